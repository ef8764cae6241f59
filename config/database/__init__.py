"""Which database is read and how long anybody waits for it; database faults in words for operators.

May import config.errors alone.
"""

"""Figures of the wire's judgements on labelled data: rows in, figures out. `manage.py evalwire` reads files and prints."""

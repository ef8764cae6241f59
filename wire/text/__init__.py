"""Rules about one story that need neither database nor settings. Imports nothing of the other rooms of wire."""

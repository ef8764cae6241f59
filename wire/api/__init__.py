"""REST of the wire: parse, call one query, render. `streaming` holds long polls and streams of changes."""

"""A story, an article or a fact-check as a citation: formats, styles of works cited, bylines, dates. Pure, no Django."""

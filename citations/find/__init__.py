"""Citations of the wire found in any text: `finder` leads. Pure, no Django."""

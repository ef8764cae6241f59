"""Citations: `format` writes them, `find` reads them in any text. Pure functions, no Django."""

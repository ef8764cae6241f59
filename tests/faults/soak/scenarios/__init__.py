"""One module for each scenario: `run` does it and tells what held."""

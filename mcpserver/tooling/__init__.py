"""Tools as every server has them: arguments, JSON Schemas, results, usage counts."""

"""Shapes of answers, the same for REST, MCP and archive files, and the bounds of parameters. No Django models."""

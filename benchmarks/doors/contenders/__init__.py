"""The same answers from memory, by other means. Each module has an ASGI `application`; run from the root of the project."""

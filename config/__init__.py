"""Settings, addresses, the ASGI application."""

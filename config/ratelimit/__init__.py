"""The request limit: a sliding log for each client, in this process's memory or in a Redis that processes share."""

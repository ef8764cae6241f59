"""Systems beside the wire, each an app of its own: publisher articles, fact-checks, timelines. None imports another."""

"""The wire: stories, events, snapshots and everything that is said about them."""

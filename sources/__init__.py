"""The roster: 24 publications, their tiers, names and feeds; how feeds are fetched and parsed. May import config."""

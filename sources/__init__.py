"""The roster: 24 publications, their tiers, names and feeds."""

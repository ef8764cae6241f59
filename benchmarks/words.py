"""Words that invented headlines consist of."""

ACTORS = tuple(
    "OpenAI Anthropic Google Microsoft Meta Nvidia xAI Mistral Perplexity Quince Lantern Gherkin Marmalade Osprey Tamarind "
    "Juniper Halyard Cobalt Saffron Nimbus Thistle Walrus Pumice Basalt".split()
)
VERBS = tuple(
    "launches raises unveils sues hires buys tests explains regulates ships delays opens acquires upgrades publishes questions "
    "funds bans reviews measures rents trains audits pauses".split()
)
QUALITIES = tuple(
    "new open small autonomous cheaper secret faster regional quiet late joint experimental medical agentic legal synthetic "
    "portable careful seasonal western private public robust green".split()
)
OBJECTS = tuple(
    "model agent chip dataset browser assistant lawsuit benchmark campus robot satellite library compiler policy round "
    "partnership headset speaker translator tutor archive memo harbor kitchen orchard lighthouse notebook piano railway "
    "glacier bakery telescope umbrella engine paper law".split()
)
PUBLISHERS = (
    ("TechCrunch", "techcrunch.com"),
    ("Wired", "wired.com"),
    ("The Verge", "theverge.com"),
    ("Reuters", "reuters.com"),
    ("VentureBeat", "venturebeat.com"),
    ("ZDNet", "zdnet.com"),
    ("Bloomberg", "bloomberg.com"),
    ("Axios", "axios.com"),
    ("Ars Technica", "arstechnica.com"),
    ("Fortune", "fortune.com"),
    ("Engadget", "engadget.com"),
    ("Semafor", "semafor.com"),
    ("OpenAI Blog", "openai.com"),
    ("NVIDIA Blog", "blogs.nvidia.com"),
    ("Financial Times", "ft.com"),
    ("The Register", "theregister.com"),
)

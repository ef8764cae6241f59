import json
from urllib.request import urlopen

with urlopen("{{ site }}/api/today.json") as answer:
    today = json.load(answer)
for story in today["stories"][:3]:
    print(story["citation_objects"]["layered_ready"])

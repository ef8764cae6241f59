const today = await (await fetch("{{ site }}/api/today.json")).json();
for (const story of today.stories.slice(0, 3)) {
  console.log(story.citation_objects.layered_ready);
}

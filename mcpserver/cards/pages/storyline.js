// A storyline: one line and one citation an event, oldest first.
function render(answer) {
  const events = answer.events.map((event) => make("li", {}, quoted("p", event.line),
    actions(copyButton("Copy citation", event.line, `of: ${event.line}`),
      link("Open event", eventAddress(answer.permalink, event.event_id), `: ${event.line}`))));
  show(quoted("h1", answer.headline),
    quiet(timeElement(answer.first_at), " to ", timeElement(answer.latest_at),
      ` · ${answer.events.length} of ${countOf(answer.total, "event")}, oldest first.`),
    actions(link("The storyline at ChatbotNews.ai", answer.permalink)),
    make("h2", {}, "Events"), make("ol", { class: "reports" }, events));
}

function eventAddress(permalink, id) {
  return permalink.replace(/\/storyline\/[^/]*$/, `/event/${id}`);
}

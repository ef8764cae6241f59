// Dated events in two lanes. Which layer lies in which lane is the corpus's own decision, and comes with the page.
function render(answer) {
  const corpus = facts[answer.corpus] || { lanes: {}, layers: {} };
  const name = (lane) => corpus.lanes[lane] || (lane === "official" ? "On record" : "Interpretation");
  const rules = Object.entries(answer.layer_rules || {})
    .map(([layer, rule]) => make("li", {}, make("strong", {}, toWords(layer)), `: ${rule}`));
  const events = answer.events.map((event) => {
    const lane = corpus.layers[event.layer] === "official" ? "official" : "community";
    return make("li", { class: lane },
      quiet(make("time", { datetime: event.date }, event.date_label || formatDay(event.date)),
        ` · ${name(lane)} · ${toWords(event.layer)}`),
      quoted("h3", event.title), event.summary ? quoted("p", event.summary) : null,
      quiet([toWords(event.claim_status), event.attribution].filter(Boolean).join(" · ")),
      isWeb(event.source_url) ? actions(link("Open source", event.source_url, `of: ${event.title}`)) : null);
  });
  show(make("h1", {}, "Timeline"),
    quiet(`${answer.returned} of ${countOf(answer.total, "event")}, the oldest first.`),
    make("div", { class: "heads", "aria-hidden": "true" }, make("span", {}, name("official")), make("span", {}, name("community"))),
    make("ol", { class: "lanes" }, events),
    rules.length ? [make("h2", {}, "What each layer says"), make("ul", { class: "quiet" }, rules)] : null);
}

function toWords(word) {
  return (word || "").replaceAll("-", " ");
}

// One event: its reports on a line of time, its coverage by tier, and citations, layered first.
const FORMATS = ["layered", "inline", "reference", "academic", "markdown", "bibtex", "csl", "ris", "apa", "mla"];

function render(event) {
  const lead = event.reports.find((report) => report.chatbotnews_id === event.lead) || event.reports[0];
  show(quoted("h1", event.headline),
    make("p", { class: "quiet" }, `${capital(event.agreement)}. First by `,
      make("span", { class: "publisher" }, event.first_reported.original_publisher), ", ", timeElement(event.first_reported.published_at), "."),
    make("div", { class: "actions" }, citeControls(lead), link("Open source", lead.original_url, `of ${lead.original_publisher}`),
      link("Permalink", event.permalink, ": the event")),
    make("h2", {}, "Coverage by tier"), tierList(event.reports),
    event.not_received.length ? make("p", { class: "quiet" }, `No stories of those days came from: ${event.not_received.join(", ")}.`) : null,
    make("h2", {}, countOf(event.reports.length, "report")), make("ol", { class: "reports" }, event.reports.map(reportItem)),
    neighbourLine("Before", event.earlier), neighbourLine("After", event.later));
}

// The button comes first: one key to reach it, one to copy the layered citation.
function citeControls(lead) {
  const about = `of ${lead.original_publisher}`;
  if (!host.capabilities.serverTools) return copyButton("Copy citation", lead.layered_ready, about, true);
  const select = make("select", { "aria-label": "Format of the citation" }, FORMATS.map((name) => make("option", { value: name }, name)));
  const cite = async () => select.value === "layered" ? lead.layered_ready
    : textOf(await callTool("get_citation", { story_id: lead.chatbotnews_id, format: select.value }));
  return [copyButton("Copy citation", cite, about, true), select];
}

function tierList(reports) {
  const rows = Object.entries(TIERS).map(([number, name]) => {
    const ofTier = reports.filter((report) => report.original_publisher_tier === Number(number));
    const share = Math.round((100 * ofTier.length) / reports.length);
    const independent = ofTier.filter((report) => report.independent).length;
    const text = ofTier.length ? `${countOf(ofTier.length, "report")}, ${independent} independent` : "none";
    return make("li", {}, make("p", {}, tierChip(number), ` ${name}`),
      make("div", {}, ofTier.length ? make("span", { class: "bar", style: `width: ${share}%`, "aria-hidden": "true" }) : null, make("p", { class: "quiet" }, text)));
  });
  return make("ul", { class: "tiers" }, rows);
}

function neighbourLine(when, event) {
  if (!event) return null;
  return make("p", { class: "quiet" }, `${when}: `, make("span", { class: "publisher" }, event.publisher), ", ", timeElement(event.published_at), `: ${event.headline}`);
}

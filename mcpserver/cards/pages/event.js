// One event: its reports on a line of time, its coverage by tier, and citations, layered first.
const FORMATS = ["layered", "inline", "reference", "academic", "markdown", "bibtex", "csl", "ris", "apa", "mla"];

function render(event) {
  const lead = event.reports.find((report) => report.chatbotnews_id === event.lead) || event.reports[0];
  const first = event.first_reported;
  const by = first.certain ? ["First by ", publisher(first.original_publisher), ", "] : ["First report: "];
  show(quoted("h1", event.headline), quiet(`${capital(event.agreement)}. `, ...by, timeElement(first.published_at), "."),
    actions(citeControls(lead), link("Open source", lead.original_url, `of ${lead.original_publisher}`),
      link("Permalink", event.permalink, ": the event")),
    make("h2", {}, "Coverage by tier"), tierList(event.reports),
    event.not_received.length ? quiet(`No stories of those days came from: ${event.not_received.join(", ")}.`) : null,
    make("h2", {}, countOf(event.reports.length, "report")), make("ol", { class: "reports" }, event.reports.map(reportItem)),
    neighbourLine("Before", event.earlier), neighbourLine("After", event.later));
}

// The button comes first: one key to reach it, one to copy the layered citation.
function citeControls(lead) {
  const about = `of ${lead.original_publisher}`;
  if (!host.capabilities.serverTools) return copyButton("Copy citation", lead.layered_ready, about, true);
  const options = FORMATS.map((name) => make("option", { value: name }, name));
  const select = make("select", { "aria-label": "Format of the citation" }, options);
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
    const bar = ofTier.length ? make("span", { class: "bar", style: `width: ${share}%`, "aria-hidden": "true" }) : null;
    return make("li", {}, make("p", {}, tierChip(number), ` ${name}`), make("div", {}, bar, quiet(text)));
  });
  return make("ul", { class: "tiers" }, rows);
}

function neighbourLine(when, event) {
  if (!event) return null;
  return quiet(`${when}: `, publisher(event.publisher), ", ", timeElement(event.published_at), `: ${event.headline}`);
}

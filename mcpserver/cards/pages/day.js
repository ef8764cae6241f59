// The events of a day: who reported each when. A host that passes tools on gives the layered citation and every report as well.
function render(answer) {
  const events = answer.events.map((event) => eventCard(event, answer.story_url));
  show(make("h1", {}, `What happened on ${formatDay(answer.wire_date)}`),
    answer.is_stale ? note("This is the latest published day. It is not today.") : null,
    quiet(`${answer.events.length} of ${countOf(answer.total, "event")}, the most widely reported first.`),
    make("ul", { class: "cards" }, events));
}

function eventCard(event, storyUrl) {
  const lead = event.lead || event.event_id;
  const about = `of: ${event.headline}`;
  const date = event.published_at.slice(0, 10);
  const stop = event.headline.endsWith(".") ? "" : ".";
  const inline = `ChatbotNews.ai, citing ${event.publisher} (Tier ${event.tier}), ${date}: ${event.headline}${stop}`;
  const layered = async () => textOf(await callTool("get_citation", { story_id: lead, format: "layered" }));
  const card = make("li", {},
    quoted("h2", event.headline),
    quiet(publisher(event.publisher), " ", tierChip(event.tier), " · ", timeElement(event.published_at)),
    quiet(capital(event.agreement)));
  const reports = host.capabilities.serverTools ? reportsButton(event, card, about) : null;
  card.append(actions(
    copyButton("Copy citation", host.capabilities.serverTools ? layered : inline, about), reports,
    link("Open story", (storyUrl || "").replace("{lead}", lead), about)));
  return card;
}

function reportsButton(event, card, about) {
  let list = null;
  const button = make("button", { type: "button", "aria-expanded": "false" }, "Who reported it", hidden(about));
  button.addEventListener("click", async () => {
    try {
      if (list) list.hidden = !list.hidden;
      else {
        const found = contentOf(await callTool("get_event", { event_id: event.event_id }));
        list = make("ol", { class: "reports" }, found.reports.map(reportItem));
        card.append(list);
      }
      button.setAttribute("aria-expanded", String(!list.hidden));
    } catch (error) {
      announce(error.message);
    }
  });
  return button;
}

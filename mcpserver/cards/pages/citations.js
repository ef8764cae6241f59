// A text with each of its citations marked, and the correct string of each that is wrong.
const VERDICTS = {
  verified: ["is-right", "✓ Right"], reworded: ["is-unsure", "≈ Reworded"], outdated: ["is-unsure", "⟳ Outdated"],
  wrong: ["is-wrong", "✗ Wrong"], unknown: ["is-wrong", "? Unknown"],
};

function render(answer) {
  const text = typeof host.input.text === "string" ? host.input.text : "";
  show(make("h1", {}, "Checked citations"),
    quiet(`${answer.verified} of ${countOf(answer.found, "citation")} right. ${answer.notes}`),
    text ? [make("h2", {}, "The text"), make("p", { class: "pasted", dir: "auto" }, markCitations(text, answer.citations))] : null,
    answer.found ? [make("h2", {}, "Each citation"), make("ol", { class: "checked" }, answer.citations.map(citationItem))] : null);
}

function verdict(citation) {
  const [kind, name] = VERDICTS[citation.verdict] || ["is-unsure", citation.verdict];
  if (citation.verdict !== "reworded" || !citation.support) return [kind, name];
  return citation.support === "supported" ? [kind, "≈ Reworded, supported"] : ["is-wrong", "✗ Reworded, not supported"];
}

// The answer has each citation on one line, so white space is compared as one blank.
function markCitations(text, citations) {
  const places = [];
  let flat = "";
  for (const [place, sign] of [...text.matchAll(/\s+|\S/gu)].map((match) => [match.index, /\s/u.test(match[0]) ? " " : match[0]])) {
    for (let unit = 0; unit < sign.length; unit += 1) places.push(place + unit);
    flat += sign;
  }
  places.push(text.length);
  const pieces = [];
  let end = 0, from = 0;
  citations.forEach((citation, index) => {
    const wanted = citation.text.replace(/\s+/gu, " ");
    const at = flat.indexOf(wanted, from);
    if (at < 0 || !wanted) return;
    from = at + wanted.length;
    const [kind, name] = verdict(citation);
    const verdictElement = make("span", { class: `verdict ${kind}` }, ` ${name} (${index + 1})`);
    pieces.push(text.slice(end, places[at]), make("mark", { class: kind }, text.slice(places[at], places[from]), verdictElement));
    end = places[from];
  });
  return [...pieces, text.slice(end)];
}

function citationItem(citation, index) {
  const [kind, name] = verdict(citation);
  const isWrong = citation.correct && citation.correct !== citation.text;
  const label = isWrong ? "Copy the correct citation" : "Copy citation";
  return make("li", {},
    make("h3", {}, `${index + 1}. `, make("span", { class: `verdict ${kind}` }, name),
      make("span", { class: "quiet" }, ` ${citation.format}`)),
    quoted("blockquote", citation.text),
    citation.problems.length ? make("ul", {}, citation.problems.map((problem) => make("li", {}, problem))) : null,
    isWrong ? [quiet("The correct citation:"), quoted("blockquote", citation.correct, { class: "correct" })] : null,
    actions(
      citation.correct ? copyButton(label, citation.correct, `, number ${index + 1}`) : null,
      link("Open the record", citation.permalink, `of citation ${index + 1}`)));
}

// Copy buttons, pictures, what is new, and the proof of a day in the browser. Everything else on the site works without this file.
"use strict";

for (const button of document.querySelectorAll("button[data-copy]")) {
  if (!navigator.clipboard) continue;
  button.hidden = false;
  const label = button.textContent;
  button.addEventListener("click", async () => {
    try {
      await navigator.clipboard.writeText(document.getElementById(button.dataset.copy).textContent);
      button.textContent = "Copied";
    } catch {
      button.textContent = "The browser refused to copy";
    }
    setTimeout(() => { button.textContent = label; }, 2000);
  });
}

// A picture that cannot be had leaves no empty frame.
for (const picture of document.querySelectorAll(".picture img")) {
  const remove = () => picture.parentElement.remove();
  if (picture.complete && !picture.naturalWidth) remove();
  else picture.addEventListener("error", remove);
}

// /new: what came since the last visit. It is remembered here alone; a page loaded again within half an hour is the same visit.
const arrivals = document.getElementById("arrivals");
if (arrivals) {
  const rows = [...arrivals.querySelectorAll("[data-at]")];
  const newest = Math.max(0, ...rows.map((row) => Number(row.dataset.at)));
  let visit = null;
  try {
    visit = JSON.parse(localStorage.getItem("wire-visit"));
    const isSame = visit && Date.now() - visit.on < 30 * 60_000;
    const before = isSame ? visit.before : visit?.newest;
    localStorage.setItem("wire-visit", JSON.stringify({ on: Date.now(), newest, before: before ?? newest }));
    visit = visit ? { before, on: isSame ? null : visit.on } : null;
  } catch {
    visit = null; // no storage: the page stays the newest list
  }
  if (visit) {
    const since = rows.filter((row) => Number(row.dataset.at) > visit.before);
    for (const row of since) row.classList.add("is-new");
    const many = since.length === rows.length && rows.length > 0 ? `At least ${rows.length}` : since.length || "No";
    const when = visit.on ? ` on ${new Date(visit.on).toLocaleString("en-GB", { dateStyle: "medium", timeStyle: "short" })}` : "";
    document.getElementById("visit").textContent =
      `${many} ${since.length === 1 ? "story has" : "stories have"} arrived since your last visit${when}. Only this browser remembers it.`;
  }
}

// RFC 8785: keys sorted by UTF-16 code units, numbers and strings as JSON.stringify writes them.
const canonical = (value) => {
  if (Array.isArray(value)) return `[${value.map(canonical).join(",")}]`;
  if (value === null || typeof value !== "object") return JSON.stringify(value);
  return `{${Object.keys(value).sort().map((key) => `${JSON.stringify(key)}:${canonical(value[key])}`).join(",")}}`;
};
const sha256 = async (value) => {
  const digest = await crypto.subtle.digest("SHA-256", new TextEncoder().encode(canonical(value)));
  return Array.from(new Uint8Array(digest), (byte) => byte.toString(16).padStart(2, "0")).join("");
};
const bytes = (base64) => Uint8Array.from(atob(base64), (character) => character.charCodeAt(0));
const load = async (address) => {
  const answer = await fetch(address);
  if (!answer.ok) throw new Error(`${address} answered ${answer.status}`);
  return answer.json();
};
const CONTENT = ["chatbotnews_id", "revision", "status", "headline", "author", "summary_medium", "category", "topics",
  "original_publisher", "original_publisher_tier", "original_url", "via", "credited_source", "published_at", "language"];

async function verify(day, say) {
  const proof = await load(`/api/provenance/${day}.json`);
  const whole = await load(`/api/archive/${day}.json?revision=${proof.revision}`);
  const keys = (await load("/.well-known/wire-keys.json")).keys;
  const told = new Map(proof.manifest.stories.map((line) => [line.chatbotnews_id, line.story_sha256]));
  for (const story of whole.stories) {
    const content = { v: 1 };
    for (const name of CONTENT) content[name] = story[name];
    const found = await sha256(content);
    if (found !== story.story_sha256 || found !== told.get(story.chatbotnews_id)) {
      return say(false, `The story ${story.chatbotnews_id} is not what was published: its hash is ${found}.`);
    }
  }
  if (whole.stories.length !== told.size) return say(false, `The day shows ${whole.stories.length} stories, its manifest ${told.size}.`);
  say(true, `${told.size} stories, each matching its hash.`);
  const found = await sha256(proof.manifest);
  if (found !== proof.wire_sha256) return say(false, `The manifest's hash is ${found}, not ${proof.wire_sha256}.`);
  say(true, `The day's hash is ${found}.`);
  const signer = keys.find((key) => key.key_id === proof.signature.key_id);
  try {
    const key = await crypto.subtle.importKey("raw", bytes(signer.public_key), { name: "Ed25519" }, false, ["verify"]);
    const signed = await crypto.subtle.verify("Ed25519", key, bytes(proof.signature.value), new TextEncoder().encode(found));
    say(signed, signed ? `Signed by the published key ${signer.key_id}.` : "The signature does not match.");
  } catch (error) {
    if (error.name !== "NotSupportedError") throw error;
    say(true, "This browser cannot check Ed25519 signatures; the hashes match.");
  }
}

const button = document.getElementById("verify-button");
if (button && crypto.subtle) {
  const list = document.getElementById("verified");
  const say = (right, text) => {
    const line = list.appendChild(document.createElement("li"));
    line.className = right ? "right" : "wrong";
    line.textContent = `${right ? "✓" : "✗"} ${text}`;
  };
  button.parentElement.hidden = false;
  button.addEventListener("click", async () => {
    list.replaceChildren();
    button.disabled = true;
    try {
      await verify(button.parentElement.dataset.day, say);
    } catch (error) {
      say(false, `The day could not be verified: ${error.message}.`);
    }
    button.disabled = false;
  });
}

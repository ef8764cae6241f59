// Times: the exact one, in the reader's own zone, as the title; the latest of them as "3 hours ago".
// This runs while the page is read, before any of it is drawn, so that no line moves later.
"use strict";

const relative = new Intl.RelativeTimeFormat("en", { numeric: "always" });
const setAge = (time) => {
  const at = new Date(time.dateTime);
  const minutes = Math.round((Date.now() - at) / 60_000);
  if (!time.title || time.dateTime.endsWith("T00:00:00Z") || Number.isNaN(minutes)) return; // a date without a time
  time.title = `${time.title} (${at.toLocaleString("en-GB", { dateStyle: "medium", timeStyle: "short" })} your time)`;
  if (minutes < 1 || minutes >= 36 * 60) return;
  time.textContent = minutes < 60 ? relative.format(-minutes, "minute") : relative.format(-Math.round(minutes / 60), "hour");
};

const times = document.getElementsByTagName("time");
let finished = 0;
// The parser may still be within an element that nothing follows yet.
const isComplete = (node) => document.readyState !== "loading" || node.nextSibling !== null || (node.parentNode !== null && isComplete(node.parentNode));
const setAges = () => { while (finished < times.length && isComplete(times[finished])) setAge(times[finished++]); };
const reading = new MutationObserver(setAges);
reading.observe(document, { childList: true, subtree: true });
document.addEventListener("DOMContentLoaded", () => {
  reading.disconnect();
  setAges();
});

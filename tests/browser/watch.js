// Runs in every page before the page's own script: counts what moves by itself and what the policy forbids.
window.watched = { shifts: 0, violated: [] };
document.addEventListener("securitypolicyviolation", (event) => {
  window.watched.violated.push(`${event.violatedDirective}: ${event.blockedURI || event.sample}`);
});
// A blank at the end of a line has no place of its own until more of the line arrives: nobody sees it move.
const blank = ({ node }) => node !== null && node.nodeType === Node.TEXT_NODE && !node.data.trim();
const unseen = (entry) => entry.sources.length > 0 && entry.sources.every(blank);
new PerformanceObserver((list) => {
  for (const entry of list.getEntries()) if (!entry.hadRecentInput && !unseen(entry)) window.watched.shifts += entry.value;
}).observe({ type: "layout-shift", buffered: true });

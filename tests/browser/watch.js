// Runs in every page before the page's own script: counts what moves by itself and what the policy forbids.
window.watched = { shifts: 0, violated: [] };
document.addEventListener("securitypolicyviolation", (event) => {
  window.watched.violated.push(`${event.violatedDirective}: ${event.blockedURI || event.sample}`);
});
new PerformanceObserver((list) => {
  for (const entry of list.getEntries()) if (!entry.hadRecentInput) window.watched.shifts += entry.value;
}).observe({ type: "layout-shift", buffered: true });

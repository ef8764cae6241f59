// Browsers focus nothing on a page that is hidden until Alpine has read it: do it then, unless somebody was faster.
const focusField = () => document.activeElement === document.body && document.querySelector("[autofocus]")?.focus();
document.addEventListener("alpine:initialized", () => requestAnimationFrame(focusField));
addEventListener("load", () => requestAnimationFrame(focusField));

// While the answer to a form that changes something is on its way, its button is off and says so.
addEventListener("submit", (event) => {
  const { submitter, target } = event;
  if (!submitter || event.defaultPrevented || target.method !== "post") return;
  setTimeout(() => {  // once the browser has read the button's value
    submitter.disabled = true;
    submitter.insertAdjacentHTML("afterend", ' <span class="working" role="status">Working…</span>');
  });
});
addEventListener("pageshow", () => document.querySelectorAll(".working").forEach((note) => {  // after “back”
  note.previousElementSibling.disabled = false;
  note.remove();
}));

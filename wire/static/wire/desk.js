// Browsers focus nothing on a page that is hidden until Alpine has read it: do it then, unless somebody was faster.
const focusField = () => document.activeElement === document.body && document.querySelector("[autofocus]")?.focus();
document.addEventListener("alpine:initialized", () => requestAnimationFrame(focusField));
addEventListener("load", () => requestAnimationFrame(focusField));

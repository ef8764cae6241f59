// Browsers focus nothing on a page that is hidden until Alpine has read it: do it then.
document.addEventListener("alpine:initialized", () => document.querySelector("[autofocus]")?.focus());

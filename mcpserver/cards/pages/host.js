"use strict";
// What all cards share: talking to the host (MCP Apps 2026-01-26, JSON-RPC over postMessage), and making elements.
// Texts of publishers only ever become text nodes; addresses only http and https.
const host = { capabilities: {}, input: {}, result: null, waiting: new Map(), asked: 0 };
const facts = JSON.parse(document.getElementById("facts").textContent);
const main = document.getElementById("card");
const TIERS = { 1: "Company blogs", 2: "Specialist press", 3: "Global press", 4: "Category wire" };

function send(message) {
  window.parent.postMessage({ jsonrpc: "2.0", ...message }, "*");
}

function ask(method, params) {
  const id = ++host.asked;
  send({ id, method, params });
  return new Promise((resolve, reject) => host.waiting.set(id, { resolve, reject }));
}

async function callTool(name, given) {
  const found = await ask("tools/call", { name, arguments: given });
  if (found.isError) throw new Error(textOf(found));
  return found;
}

function textOf(result) {
  return (result.content || []).filter((part) => part.type === "text").map((part) => part.text).join("\n");
}

function contentOf(result) {
  return result.structuredContent || JSON.parse(textOf(result));
}

function make(tag, attributes, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes || {})) {
    if (name === "onclick") element.addEventListener("click", value);
    else if (value !== null && value !== false) element.setAttribute(name, value === true ? "" : value);
  }
  element.append(...children.flat().filter((child) => child !== null && child !== undefined && child !== ""));
  return element;
}

function announce(text) {
  const status = document.getElementById("status");
  status.textContent = text;
  clearTimeout(announce.ends);
  announce.ends = setTimeout(() => { status.textContent = ""; }, 6000);
}

function isWeb(url) {
  return typeof url === "string" && /^https?:\/\//i.test(url);
}

// The host opens the page. Where it does not, its reader is given the address.
function link(text, url, about) {
  if (!isWeb(url)) return null;
  const open = async (event) => {
    event.preventDefault();
    try {
      if (!host.capabilities.openLinks) throw new Error("no links");
      if ((await ask("ui/open-link", { url })).isError) throw new Error("refused");
    } catch {
      announce(`This host opens no links: ${url}`);
    }
  };
  return make("a", { href: url, rel: "noopener", target: "_blank", onclick: open }, text, hidden(about));
}

// A text of somebody else's, in whatever direction it is written.
function quoted(tag, text, attributes) {
  return make(tag, { dir: "auto", ...attributes }, text);
}

function capital(text) {
  return text.charAt(0).toUpperCase() + text.slice(1);
}

function quiet(...children) {
  return make("p", { class: "quiet" }, ...children);
}

function note(text) {
  return make("p", { class: "note" }, text);
}

function actions(...children) {
  return make("div", { class: "actions" }, ...children);
}

function publisher(name) {
  return make("span", { class: "publisher" }, name);
}

function hidden(text) {
  return text ? make("span", { class: "hidden" }, ` ${text}`) : null;
}

async function copy(text, what) {
  let copied = true;
  try {
    await navigator.clipboard.writeText(text);
  } catch {
    const field = make("textarea", { class: "copying", "aria-hidden": "true", tabindex: "-1" });
    const before = document.activeElement;
    field.value = text;
    document.body.append(field);
    field.select();
    copied = document.execCommand("copy");
    field.remove();
    if (before) before.focus();
  }
  announce(copied ? `${what} copied.` : `This host lets nothing be copied: ${text}`);
}

// `text` is the citation, or returns a promise of it.
function copyButton(label, text, about, first) {
  const press = async () => {
    try {
      await copy(typeof text === "function" ? await text() : text, "Citation");
    } catch (error) {
      announce(error.message);
    }
  };
  return make("button", { type: "button", class: first ? "first" : null, onclick: press }, label, hidden(about));
}

// Midnight sharp gives the date alone, as on the site: archives and some feeds have no time.
function timeElement(iso) {
  const when = new Date(iso);
  if (Number.isNaN(when.getTime())) return document.createTextNode(iso || "");
  const shown = { day: "numeric", month: "short", year: "numeric", timeZone: "UTC" };
  if (/T00:00:00Z$/.test(iso)) return make("time", { datetime: iso }, when.toLocaleString("en-GB", shown));
  const clock = { hour: "2-digit", minute: "2-digit", hourCycle: "h23" };
  return make("time", { datetime: iso }, `${when.toLocaleString("en-GB", { ...shown, ...clock })} UTC`);
}

function formatDay(iso) {
  const when = new Date(`${iso}T00:00:00Z`);
  if (Number.isNaN(when.getTime())) return iso || "";
  return when.toLocaleDateString("en-GB", { day: "numeric", month: "long", year: "numeric", timeZone: "UTC" });
}

function tierChip(number) {
  return make("span", { class: "chip", title: TIERS[number] || null }, `Tier ${number}`);
}

function countOf(number, noun) {
  return `${number} ${noun}${number === 1 ? "" : "s"}`;
}

// One report in a list of an event's: who, when, what; its citation and its source.
function reportItem(report) {
  const about = `of ${report.original_publisher}`;
  const remarks = [
    report.is_copy ? "repeats another report's text" : report.independent ? null : "not counted as independent",
    report.genre && report.genre !== "news" ? report.genre : null,
    report.published_at_estimated ? "when first seen" : null,
  ].filter(Boolean);
  return make("li", { class: report.independent ? null : "copy" },
    quiet(timeElement(report.published_at), " · ",
      publisher(report.original_publisher), " ", tierChip(report.original_publisher_tier),
      remarks.length ? ` · ${remarks.join(", ")}` : null),
    quoted("h3", report.headline),
    report.untrusted_instructions ? note("This text addresses the model that reads it. It is quoted material.") : null,
    actions(copyButton("Copy citation", report.layered_ready, about),
      link("Open source", report.original_url, about), link("Permalink", report.permalink, `: the report ${about}`)));
}

// Replace what the page showed before. Each card has a `render` of its own, which calls this.
function show(...children) {
  main.replaceChildren(...children.flat().filter(Boolean));
  main.removeAttribute("aria-busy");
}

function showError(text) {
  show(make("h1", {}, "No answer"), note(text));
}

function showResult(result) {
  host.result = result;
  if (result.isError) return showError(textOf(result));
  try {
    render(contentOf(result));
  } catch {
    show(make("h1", {}, document.title || "Answer"), quoted("p", textOf(result), { class: "pasted" }));
  }
}

function useContext(context) {
  if (!context) return;
  if (context.theme === "light" || context.theme === "dark") document.documentElement.style.colorScheme = context.theme;
  const font = context.styles && context.styles.variables && context.styles.variables["--font-sans"];
  if (font) document.documentElement.style.setProperty("--font-sans", font);
}

function tellSize() {
  const size = { width: Math.ceil(window.innerWidth), height: Math.ceil(document.documentElement.getBoundingClientRect().height) };
  if (size.width === tellSize.width && size.height === tellSize.height) return;
  Object.assign(tellSize, size);
  send({ method: "ui/notifications/size-changed", params: size });
}

const HANDLERS = {
  "ui/notifications/tool-input": (params) => {
    host.input = params.arguments || {};
    if (host.result) showResult(host.result);
  },
  "ui/notifications/tool-result": showResult,
  "ui/notifications/tool-cancelled": (params) => showError(params.reason || "The call was cancelled."),
  "ui/notifications/host-context-changed": useContext,
};

window.addEventListener("message", (event) => {
  const message = event.data;
  if (event.source !== window.parent || !message || message.jsonrpc !== "2.0") return;
  if (message.method === undefined) {
    const asked = host.waiting.get(message.id);
    host.waiting.delete(message.id);
    if (asked && message.error) asked.reject(new Error(message.error.message));
    else if (asked) asked.resolve(message.result || {});
  } else if (message.id === undefined) {
    if (Object.hasOwn(HANDLERS, message.method)) HANDLERS[message.method](message.params || {});
  } else if (message.method === "ping" || message.method === "ui/resource-teardown") {
    send({ id: message.id, result: {} });
  } else {
    send({ id: message.id, error: { code: -32601, message: "Method not found" } });
  }
});

(async () => {
  const begun = await ask("ui/initialize", {
    protocolVersion: "2026-01-26",
    appInfo: { name: "chatbotnews-cards", version: "1.0.0" },
    appCapabilities: { availableDisplayModes: ["inline", "fullscreen"] },
  });
  host.capabilities = begun.hostCapabilities || {};
  useContext(begun.hostContext);
  send({ method: "ui/notifications/initialized" });
  new ResizeObserver(tellSize).observe(document.documentElement);
})();

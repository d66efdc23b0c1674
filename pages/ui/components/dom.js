// Shared by every component. el() is the only way to create an element: text becomes text nodes, attributes pass an allowlist.
const ATTRIBUTES = new Set([
  "class",
  "title",
  "href",
  "target",
  "rel",
  "type",
  "placeholder",
  "aria-label",
  "aria-expanded",
  "aria-pressed",
  "aria-current",
  "aria-selected",
  "aria-live",
  "aria-hidden",
  "role",
  "tabindex",
  "id",
  "colspan",
  "start",
  "for",
  "value",
  "checked",
  "data-key",
  "data-query",
]);

// el("a.title.small", { href }, "Open"): a tag with its classes, attributes where there are any, children.
function el(selector, ...children) {
  const [tag, ...classes] = selector.split(".");
  const node = document.createElement(tag);
  if (tag === "button") node.type = "button"; // none sends a form
  if (classes.length) node.className = classes.join(" ");
  const attributes = children[0]?.constructor === Object ? children.shift() : {};
  for (const [name, value] of Object.entries(attributes)) {
    if (value === undefined || value === null || value === false) continue;
    if (name.startsWith("on")) node.addEventListener(name.slice(2), value);
    else if (name === "style")
      for (const [property, setting] of Object.entries(value))
        property.startsWith("--") ? node.style.setProperty(property, setting) : (node.style[property] = setting);
    else if (ATTRIBUTES.has(name))
      node.setAttribute(name, value === true && !name.startsWith("aria-") ? "" : String(value));
  }
  node.append(
    ...children
      .flat(9)
      .filter((child) => child !== null && child !== undefined && child !== false)
      .map((child) => (child instanceof Node ? child : document.createTextNode(String(child)))),
  );
  return node;
}

// All that a component shows.
const fill = (parent, ...children) => parent.querySelector("#root").replaceChildren(...children);

const badge = ({ text, tone }) => el("span", { class: `badge ${tone || ""}` }, text);

function button(text, onclick, { kind = "plain", title, pressed, key } = {}) {
  return el("button", { class: `button ${kind}`, title, "aria-pressed": pressed, "data-key": key, onclick }, text);
}

async function copy(text, source) {
  const label = source.textContent;
  try {
    await navigator.clipboard.writeText(text);
  } catch {
    const area = el("textarea.offscreen");
    area.value = text;
    source.parentNode.append(area);
    area.select();
    document.execCommand("copy");
    area.remove();
  }
  source.textContent = "Copied";
  setTimeout(() => {
    source.textContent = label;
  }, 1400);
}

// State that a component keeps between two draws of the same root.
const states = new WeakMap();
function memory(root, initial) {
  if (!states.has(root)) states.set(root, initial());
  return states.get(root);
}

// The data-keys from a node up to the root, which together name the node.
function keyPath(node, root) {
  const keys = [];
  for (let current = node; current && current !== root; current = current.parentElement)
    keys.push(current.getAttribute("data-key") ?? "");
  return keys.filter(Boolean).join("\n");
}

// Redraw and put the focus back on the element with the same key path, if exactly one has it.
function refocus(root, draw) {
  const focused = root.getRootNode().activeElement;
  const path = focused?.getAttribute("data-key") ? keyPath(focused, root) : "";
  draw();
  if (!path || root.getRootNode().activeElement === focused) return;
  const matches = [...root.querySelectorAll("[data-key]")].filter(
    (node) => node.getAttribute("data-key") && keyPath(node, root) === path,
  );
  if (matches.length === 1) matches[0].focus({ preventScroll: true });
}

// What /api/v1 says to the token of this page: its value and how many there are of a list, or the sentence of a refusal.
// With `body` it is told something; nothing comes back to a question that was aborted by `signal`.
async function api(path, token, { body, ...more } = {}) {
  const headers = { Authorization: `Bearer ${token}`, ...(body ? { "Content-Type": "application/json" } : {}) };
  const sent = body ? { method: "POST", body: JSON.stringify(body) } : {};
  try {
    const answer = await fetch(`/api/v1/${path}`, { headers, ...sent, ...more });
    if (answer.status === 401) return { error: "This page is too old. Load it again.", old: true };
    const value = await answer.json();
    if (!answer.ok) return { error: value.detail, cure: value.cure };
    return { value, total: Number(answer.headers.get("x-total-count")) };
  } catch (error) {
    if (error.name === "AbortError") return {};
    return { error: "The server cannot be reached. Try again in a moment." };
  }
}

// The address of a document, or of a place in it: { doc, version, start, end ... }.
const documentHref = (place) => `/documents?${new URLSearchParams(place)}`;

// Other documents with the same text: the first as links, the rest counted.
function alsoIn(also) {
  if (!also) return null;
  const links = also.links.map(({ label, place }, n) => [
    n ? ", " : "",
    inside({ "data-key": `also${n}` }, documentHref(place), label),
  ]);
  const more = also.more ? el("span", { title: also.rest }, ` and ${also.more} more`) : null;
  return el("div.also", "Also in: ", links, more);
}

// A link that acts on this page and leads nowhere.
function actionLink(attributes, href, act, ...children) {
  const onclick = (event) => {
    event.preventDefault();
    act();
  };
  return el("a", { ...attributes, href, onclick }, ...children);
}

// Go to another page or view of the app without loading it anew: one step in the browser's history, as Back expects.
function visit(href) {
  window.history.pushState({}, "", href);
  window.dispatchEvent(new PopStateEvent("popstate"));
}

// Act on a click that asks for no new tab or window.
const plainClick = (act) => (event) => {
  if (event.ctrlKey || event.metaKey || event.shiftKey || event.button) return;
  event.preventDefault();
  act();
};

// A link inside the app: a real address for new tabs, no reload for a plain click.
function inside(attributes, href, ...children) {
  return el("a", { ...attributes, href, onclick: plainClick(() => visit(href)) }, ...children);
}

// A select element; options are [value, text] pairs.
function dropdown(label, options, value, onchoose, key) {
  const select = el(
    "select",
    { "aria-label": label, "data-key": key, onchange: (event) => onchoose(event.target.value) },
    options.map(([value, text]) => el("option", { value }, text)),
  );
  select.value = value;
  return select;
}

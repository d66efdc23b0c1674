// Shared helpers. el() is the only way to make an element: text goes through text nodes, attributes through an allowlist.
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
  "aria-live",
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

function el(tag, attributes = {}, ...children) {
  const node = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (value === undefined || value === null || value === false) continue;
    if (name.startsWith("on")) node.addEventListener(name.slice(2), value);
    else if (name === "style")
      for (const [key, one] of Object.entries(value))
        key.startsWith("--") ? node.style.setProperty(key, one) : (node.style[key] = one);
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

const badge = ({ text, tone }) => el("span", { class: `badge ${tone || ""}` }, text);

function button(text, onclick, { kind = "plain", title, pressed, key } = {}) {
  return el(
    "button",
    { type: "button", class: `button ${kind}`, title, "aria-pressed": pressed, "data-key": key, onclick },
    text,
  );
}

async function copy(text, source) {
  const label = source.textContent;
  try {
    await navigator.clipboard.writeText(text);
  } catch {
    const area = el("textarea", { class: "offscreen" });
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

// What a component remembers between two drawings of the same place.
const memories = new WeakMap();
function memory(root, fresh) {
  if (!memories.has(root)) memories.set(root, fresh());
  return memories.get(root);
}

// Draw anew and leave the focus where it was: on the one element with the same data-key inside the same keyed elements.
function refocus(root, draw) {
  const held = root.getRootNode().activeElement;
  const name = (node) => {
    const keys = [];
    for (let at = node; at && at !== root; at = at.parentElement) keys.push(at.getAttribute("data-key") ?? "");
    return keys.filter(Boolean).join("\n");
  };
  const was = held?.getAttribute("data-key") ? name(held) : "";
  draw();
  if (!was || root.getRootNode().activeElement === held) return;
  const same = [...root.querySelectorAll("[data-key]")].filter(
    (node) => name(node) === was && node.getAttribute("data-key"),
  );
  if (same.length === 1) same[0].focus({ preventScroll: true });
}

// A link inside the app: a real address for new tabs, a message to Python for a plain click.
function inside(attributes, href, go, ...children) {
  return el(
    "a",
    {
      ...attributes,
      href,
      onclick: (event) => {
        if (event.ctrlKey || event.metaKey || event.shiftKey || event.button) return;
        event.preventDefault();
        go();
      },
    },
    ...children,
  );
}

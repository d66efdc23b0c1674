// "/" or Ctrl+K goes to the search box, wherever one is.
const FIELDS = ["INPUT", "TEXTAREA", "SELECT"];

export default function ({ setTriggerValue }) {
  const onKey = (event) => {
    if (!isShortcut(event)) return;
    event.preventDefault();
    const box = searchBox();
    if (!box) return setTriggerValue("search", Date.now());
    box.focus();
    box.select();
  };
  document.addEventListener("keydown", onKey);
  return () => document.removeEventListener("keydown", onKey);
}

function isShortcut(event) {
  if (event.key === "/") return !isTyping(event);
  return event.key.toLowerCase() === "k" && (event.ctrlKey || event.metaKey);
}

const isTyping = (event) =>
  event
    .composedPath()
    .some((node) => node instanceof HTMLElement && (node.isContentEditable || FIELDS.includes(node.tagName)));

// The search component's own box, or the home page's.
const searchBox = () =>
  [...document.querySelectorAll("*")]
    .map((node) => node.shadowRoot?.querySelector('[data-key="search"]'))
    .find(Boolean) || document.querySelector(".st-key-home_q input");

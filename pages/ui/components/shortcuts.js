// On every page: "/" or Ctrl+K goes to the search box, wherever one is, and the menu's entry of the page that is
// open leads back to its first view, which Streamlit's own does not.
const FIELDS = ["INPUT", "TEXTAREA", "SELECT"];

export default function ({ setTriggerValue }) {
  const onKey = (event) => {
    if (event.defaultPrevented || !isShortcut(event)) return; // an editor has a Ctrl+K of its own
    event.preventDefault();
    const box = searchBox();
    if (!box) return setTriggerValue("search", Date.now());
    box.focus();
    box.select();
  };
  document.addEventListener("keydown", onKey);
  let drawing = 0;
  const watching = new MutationObserver(() => {
    cancelAnimationFrame(drawing);
    drawing = requestAnimationFrame(nameRoles);
  });
  watching.observe(document.body, { childList: true, subtree: true });
  nameRoles();
  document.addEventListener("click", onMenu, true);
  return () => {
    watching.disconnect();
    document.removeEventListener("keydown", onKey);
    document.removeEventListener("click", onMenu, true);
  };
}

// Streamlit's own markup says a few things wrong to screen readers: its menu is a list whose items lie one level too deep,
// and its drop zone has a name but no role.
function nameRoles() {
  const role = (selector, name) => {
    for (const node of document.querySelectorAll(selector))
      if (node.getAttribute("role") !== name) node.setAttribute("role", name);
  };
  role('[data-testid="stSidebarNavItems"]', "presentation");
  role('[data-testid="stSidebarNavItems"] :is(div, section):has(> li)', "list");
  role('[data-testid="stFileUploaderDropzone"]', "group");
}

function onMenu(event) {
  const entry = event.target.closest?.('[data-testid="stSidebarNavLink"]');
  const { pathname, search } = window.location;
  if (!entry || !search || new URL(entry.href).pathname !== pathname || event.ctrlKey || event.metaKey) return;
  event.preventDefault();
  event.stopPropagation();
  visit(pathname);
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

// On every page: "/" or Ctrl+K goes to the search box, wherever one is; the menu's entry of the page that is open leads
// back to its first view, which Streamlit's own does not; Back leads to where somebody was; and a popover that opens has the focus.
const FIELDS = ["INPUT", "TEXTAREA", "SELECT"];
const CONTROLS = 'input, textarea, select, a[href], button:not([disabled], [aria-label^="Help for"])';

export default function ({ data, parentElement, setTriggerValue }) {
  rememberPersona(data, parentElement.querySelector("#root"));
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
  const focusPopover = popoverFocus();
  const watching = new MutationObserver(() => {
    drawing ||= requestAnimationFrame(() => {
      drawing = 0;
      nameRoles();
      focusPopover();
    });
  });
  watching.observe(document.body, { childList: true, subtree: true });
  nameRoles();
  document.addEventListener("click", onMenu, true);
  const restore = oneStep();
  return () => {
    restore();
    watching.disconnect();
    document.removeEventListener("keydown", onKey);
    document.removeEventListener("click", onMenu, true);
  };
}

// A demo opens its links, new tabs and reloads as the persona that was chosen last.
function rememberPersona({ persona, remembered }, root) {
  const state = memory(root, () => ({ persona: remembered }));
  if (!persona || state.persona === persona) return;
  state.persona = persona;
  const body = new URLSearchParams({ persona });
  fetch("/sign-in/persona", { method: "POST", body, keepalive: true }).catch(() => (state.persona = null));
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

// Streamlit puts the box of a popover at the end of the page and leaves the focus on its button, dozens of Tabs away.
// Move it to the first control, also when an earlier one is drawn later, and back to the button when the box closes.
function popoverFocus() {
  let opener, entered;
  return () => {
    const box = [...document.querySelectorAll('[data-testid="stPopoverBody"]')].at(-1);
    const { activeElement } = document;
    if (!box) {
      if (entered && activeElement === document.body) opener.focus();
      opener = entered = undefined;
      return;
    }
    opener ??= activeElement;
    const touch = window.matchMedia("(pointer: coarse)").matches; // there a field with the focus opens the keyboard
    const first = (!touch && box.querySelector(CONTROLS)) || box;
    const untouched = [opener, entered, document.body].includes(activeElement);
    if (first === entered || !untouched) return;
    box.tabIndex = -1;
    entered = first;
    first.focus();
  };
}

// `st.switch_page` adds two steps to the history: the page that is left with the parameters of the other one, then the
// other page. Nobody was at the first, so the second takes its place. What somebody did since tells the two from a link
// to another page with the same parameters.
function oneStep() {
  const { history } = window;
  let named = ""; // the parameters that this page was just given
  const acted = () => (named = "");
  const push = (state, title, href) => {
    const { pathname, search } = new URL(href, window.location);
    const stays = pathname === window.location.pathname;
    const passed = !stays && named && named === search;
    named = stays ? search : "";
    History.prototype[passed ? "replaceState" : "pushState"].call(history, state, title, href);
  };
  history.pushState = push;
  const doings = ["pointerdown", "keydown", "popstate"];
  for (const doing of doings) window.addEventListener(doing, acted, true);
  return () => {
    if (history.pushState === push) delete history.pushState;
    for (const doing of doings) window.removeEventListener(doing, acted, true);
  };
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

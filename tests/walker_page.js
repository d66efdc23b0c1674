// What the walker sees of a page, through shadow roots: what can be pressed, what is shown, and what changed.
(() => {
  if (window.walker) return;
  const PRESSABLE =
    "a[href], button, summary, select, textarea, input, [role=tab], [role=radio], [role=slider], [role=menuitem], [contenteditable=true], [tabindex='0'][role]";
  const every = function* (root) {
    for (const node of root.querySelectorAll("*")) {
      yield node;
      if (node.shadowRoot) yield* every(node.shadowRoot);
    }
  };
  const up = (node) => node.parentElement || node.getRootNode().host || null;
  const above = (node, selector) => {
    for (let current = node; current; current = up(current)) if (current.matches(selector)) return current;
    return null;
  };
  const handOf = (node) => (node.matches("input[type=checkbox], input[type=radio]") && node.closest("label")) || node;
  const seen = (node) => {
    const hand = handOf(node), box = hand.getBoundingClientRect();
    return box.width > 1 && box.height > 1 && hand.checkVisibility({ opacityProperty: true, visibilityProperty: true });
  };
  const text = (node) => (node?.innerText || node?.textContent || "").replace(/\s+/g, " ").trim();
  const nameOf = (node) =>
    (node.getAttribute("aria-label") || text(node) || node.title || node.placeholder || text(node.labels?.[0]) || text(handOf(node))).slice(0, 90);
  const kindOf = (node) => {
    const role = node.getAttribute("role"), tag = node.tagName.toLowerCase();
    if (role === "combobox") return "choice";
    if (tag !== "input") return role || { a: "link", textarea: "text" }[tag] || tag;
    if (["checkbox", "radio", "file", "range", "number"].includes(node.type)) return node.type;
    return node.closest("[data-testid=stDateInput]") ? "date" : "text";
  };
  const keyOf = (node) => above(node, "[class*=st-key-]")?.className.match(/st-key-([\w-]+)/)?.[1] || "";
  const chain = (node) => {
    const parts = [];
    for (let current = node; current && parts.length < 3; current = current.parentElement)
      parts.push(current.tagName + (current.getRootNode() instanceof ShadowRoot ? `.${current.classList[0] || ""}` : ""));
    return parts.join("<");
  };
  const PLACES = { dialog: "[role=dialog]", popover: "[data-testid=stPopoverBody]", sidebar: "[data-testid=stSidebar]", header: "[data-testid=stHeader], [role=menu]" };
  const where = (node) => Object.keys(PLACES).find((place) => above(node, PLACES[place])) || "main";
  const chosen = (node) =>
    ["aria-selected", "aria-checked", "aria-pressed", "aria-current"].some((name) => ["page", "true"].includes(node.getAttribute(name))) || (node.type === "radio" && node.checked);
  const controls = () => {
    const hidden = (node) => above(node, "[inert], [aria-hidden=true], [data-testid=stToastContainer]");
    const nodes = [...every(document.body)].filter((node) => node.matches(PRESSABLE) && (node.type === "file" || seen(node)) && !hidden(node));
    const top = nodes.filter((node) => where(node) === "dialog");
    return (top.length ? top : nodes).map((node) => ({
      node: node.type === "file" ? node : handOf(node), kind: kindOf(node), name: nameOf(node), key: keyOf(node), chain: chain(node), where: where(node),
      href: node.href || "", chosen: chosen(node), off: Boolean(node.disabled || node.getAttribute("aria-disabled") === "true"),
    }));
  };
  const hash = (value) => [...value].reduce((sum, letter) => (Math.imul(sum, 31) + letter.charCodeAt(0)) | 0, 7);
  const state = (node) => {
    const told = node.getRootNode() instanceof ShadowRoot ? /./ : /^(aria-|open$|disabled$|placeholder$)/;
    const own = [...node.attributes].filter(({ name }) => told.test(name)).map(({ name, value }) => `${name}=${value}`).join();
    const canvas = node.tagName === "CANVAS" && node.width * node.height ? hash(node.toDataURL().slice(-4000)) : "";
    const words = [...node.childNodes].filter((child) => child.nodeType === 3).map((child) => child.data.trim()).join(" ");
    return `${own}${canvas}${words}${node.value ?? ""}${node.checked ?? ""}${node.scrollTop || ""}`;
  };
  let copied = 0; // what leaves no trace in the page: to the clipboard, to the printer
  window.print = () => copied++;
  const write = navigator.clipboard?.writeText?.bind(navigator.clipboard);
  if (write) navigator.clipboard.writeText = (value) => (copied++, write(value));
  const loud = (node) => !above(node, "[data-testid=stStatusWidget]");
  const print = () => hash([location.href, copied, Boolean(document.fullscreenElement), ...[...every(document.body)].filter(loud).map(state)].join("\n"));
  const main = () => document.querySelector("[data-testid=stMain]") || document.body;
  const parts = (selector) => [...every(main())].filter((node) => node.matches(selector) && seen(node));
  const view = () => ({
    title: document.title,
    headings: parts("h1, h2").filter((node) => !above(node, "aside")).map(text),
    tabs: parts("[role=tab], [role=radio]").filter(chosen).map(nameOf),
  });
  const cut = (node) => {
    for (let current = up(node); current && current !== main(); current = up(current)) if (getComputedStyle(current).overflowX !== "visible") return true;
    return false;
  };
  const beyond = (node) => node.getBoundingClientRect().right > innerWidth + 1 && seen(node) && !cut(node);
  const look = () => ({
    exception: [...document.querySelectorAll("[data-testid=stException]"), ...parts("p").filter((node) => text(node).includes("Something went wrong here"))].map(text),
    "sticks out": [...every(main())].filter((node) => beyond(node) && ![...node.children].some(beyond)).slice(0, 2).map((node) => `${keyOf(node)} ${chain(node)} ${text(node).slice(0, 50)}`),
    "a placeholder is still there": waiting(),
  });
  const stale = () => [...document.querySelectorAll("[data-testid=stSidebarNavLink][aria-current=page]")].filter((entry) => entry.pathname !== location.pathname);
  const waiting = () => [...[...document.querySelectorAll("[data-testid=stSkeleton]")].filter(seen), ...stale()].map((node) => keyOf(node) || node.pathname);
  window.walker = { look, waiting, controls, print, view };
})();

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
  const off = (node) => node.disabled || node.getAttribute("aria-disabled") === "true";
  const hidden = (node) => above(node, "[inert], [aria-hidden=true]");
  const text = (node) => (node?.innerText || node?.textContent || "").replace(/\s+/g, " ").trim();
  const nameOf = (node) =>
    (node.getAttribute("aria-label") || text(node) || node.title || node.placeholder || text(node.labels?.[0]) || text(handOf(node))).slice(0, 90);
  const kindOf = (node) => {
    const role = node.getAttribute("role"), tag = node.tagName.toLowerCase();
    if (role === "combobox") return "choice";
    if (tag === "input") return ["checkbox", "radio", "file", "range", "number"].includes(node.type) ? node.type : node.closest("[data-testid=stDateInput]") ? "date" : "text";
    return role || { a: "link", textarea: "text" }[tag] || tag;
  };
  const keyOf = (node) => above(node, "[class*=st-key-]")?.className.match(/st-key-([\w-]+)/)?.[1] || "";
  const chain = (node) => {
    const parts = [];
    for (let current = node; current && parts.length < 3; current = current.parentElement)
      parts.push(current.tagName + (current.getRootNode() instanceof ShadowRoot ? `.${current.className}` : ""));
    return parts.join("<");
  };
  const where = (node) => (above(node, "[role=dialog]") ? "dialog" : above(node, "[data-testid=stPopoverBody]") ? "popover" : above(node, "[data-testid=stSidebar]") ? "sidebar" : above(node, "[data-testid=stHeader], [role=menu], [data-testid=stMainMenuPopover]") ? "header" : "main");
  const chosen = (node) => node.getAttribute("aria-selected") === "true" || node.getAttribute("aria-checked") === "true" || node.getAttribute("aria-pressed") === "true" || ["page", "true"].includes(node.getAttribute("aria-current")) || (node.type === "radio" && node.checked);
  const controls = () => {
    const nodes = [...every(document.body)].filter((node) => node.matches(PRESSABLE) && (node.type === "file" || seen(node)) && !hidden(node) && !above(node, "[data-testid=stToastContainer]"));
    const top = nodes.filter((node) => where(node) === "dialog");
    return (top.length ? top : nodes).map((node) => ({
      node: node.type === "file" ? node : handOf(node), kind: kindOf(node), name: nameOf(node), key: keyOf(node), chain: chain(node), where: where(node),
      href: node.href || "", chosen: chosen(node), off: Boolean(off(node)),
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
  const quiet = (node) => above(node, "[data-testid=stStatusWidget]");
  const print = () => hash([location.href, copied, document.fullscreenElement ? 1 : 0, ...[...every(document.body)].filter((node) => !quiet(node)).map(state)].join("\n"));
  const main = () => document.querySelector("[data-testid=stMain]") || document.body;
  const lines = () => {
    const found = [];
    const read = (node) => {
      if (node.nodeType === 3) { if (node.data.trim()) found.push(node.data.trim()); return; }
      if (node.nodeType !== 1 || ["STYLE", "SCRIPT"].includes(node.tagName) || !node.checkVisibility()) return;
      if (node.matches("[data-testid=stToastContainer], [role=tooltip]")) return;
      for (const child of (node.shadowRoot || node).childNodes) read(child);
    };
    read(main());
    return found;
  };
  const view = () => ({
    title: document.title,
    headings: [...every(main())].filter((node) => node.matches("h1, h2") && seen(node) && !above(node, "aside")).map(text),
    tabs: [...every(main())].filter((node) => node.matches("[role=tab], [role=radio]") && chosen(node) && seen(node)).map(nameOf),
    lines: lines(),
  });
  const trouble = () => lines().filter((line) => line.includes("Something went wrong here") || line.includes("Traceback (most recent")).concat([...document.querySelectorAll("[data-testid=stException]")].map(text));
  const cut = (node) => {
    for (let current = up(node); current && current !== main(); current = up(current)) if (getComputedStyle(current).overflowX !== "visible") return true;
    return false;
  };
  const beyond = (node) => node.getBoundingClientRect().right > innerWidth + 1 && seen(node) && !cut(node);
  const outside = () =>
    [...every(main())].filter((node) => beyond(node) && ![...node.children].some(beyond)).slice(0, 2).map((node) => `${keyOf(node)} ${chain(node)} ${text(node).slice(0, 50)}`);
  const stale = () => {
    const entry = document.querySelector("[data-testid=stSidebarNavLink][aria-current=page]"); // the page that is shown
    return entry && entry.pathname !== location.pathname ? [`still ${entry.pathname}`] : [];
  };
  const waiting = () => [...document.querySelectorAll("[data-testid=stSkeleton]")].filter(seen).map(keyOf).concat(stale());
  const look = () => ({ waiting: waiting(), trouble: trouble(), outside: outside() });
  window.walker = { look, controls, print, view };
})();

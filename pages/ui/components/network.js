// A network on a canvas. vis-network only ever gets labels, which it paints; everything else is text nodes beside it.
export default function ({ data, parentElement, setTriggerValue }) {
  const root = parentElement.querySelector("#root");
  const state = memory(root, () => ({ focus: null, lit: null, serial: "" }));
  state.send = setTriggerValue;
  const tones = theme(root), serial = JSON.stringify([data.nodes, data.edges, tones]);
  const leave = () => { state.network?.destroy(); state.network = null; state.serial = ""; };
  if (state.serial === serial) return leave;
  Object.assign(state, { data, tones, serial, lit: null, focus: data.about[state.focus] ? state.focus : null, near: neighbours(data) });
  frame(root, state);
  library().then((vis) => { if (state.serial === serial) paint(vis, state); });
  return leave;
}

async function library() {
  while (!globalThis.vis?.Network) await new Promise((done) => setTimeout(done, 20));
  return globalThis.vis;
}

function theme(root) {
  const style = getComputedStyle(root), value = (name) => style.getPropertyValue(name).trim();
  return { text: value("--st-text-color"), back: value("--st-background-color"), font: value("--st-font") || "sans-serif" };
}

function neighbours({ relations, about }) {
  const near = Object.fromEntries(Object.keys(about).map((id) => [id, []]));
  for (const [a, b, label, weight] of relations) { near[a]?.push({ id: b, label, weight }); near[b]?.push({ id: a, label, weight }); }
  for (const list of Object.values(near)) list.sort((a, b) => b.weight - a.weight || (a.id < b.id ? -1 : 1));
  return near;
}

const clear = (color, share) => { // a colour of the theme, more or less transparent
  const [r, g, b] = [1, 3, 5].map((at) => parseInt(color.slice(at, at + 2), 16));
  return Number.isNaN(r + g + b) ? color : `rgba(${r},${g},${b},${share})`;
};

// ------------------------------------------------------------ the canvas

function paint(vis, state) {
  const { data, tones, stage } = state;
  state.network?.destroy();
  state.nodes = new vis.DataSet(data.nodes.map((node) => look(node, state)));
  state.edges = new vis.DataSet(data.edges.map((edge, n) => ({ ...edge, id: n, color: { color: tones.text, opacity: 0.2 } })));
  const options = { ...data.options, autoResize: true, height: "100%", width: "100%" };
  state.network = stage.network = new vis.Network(stage, { nodes: state.nodes, edges: state.edges }, options);
  state.network.once("afterDrawing", () => fit(state, false));
  state.network.on("click", ({ nodes }) => focus(state, nodes[0] ?? null));
  state.network.on("doubleClick", ({ nodes }) => { if (nodes[0] && data.about[nodes[0]].centre) centre(state, nodes[0]); });
  state.network.on("hoverNode", ({ node, pointer }) => tip(state, node, pointer.DOM));
  for (const away of ["blurNode", "dragStart", "zoom", "click"]) state.network.on(away, () => tip(state, null));
  if (state.focus) shine(state);
}

function look(node, state) {
  const { tones } = state, lit = state.lit === null || state.lit.has(node.id), start = node.borderWidth > 2, chosen = node.id === state.focus;
  const edge = chosen || start ? tones.text : tones.back;
  return { ...node, opacity: lit ? 1 : 0.12, borderWidth: chosen ? 4 : node.borderWidth,
    color: { background: node.color, border: edge, highlight: { background: node.color, border: tones.text }, hover: { background: node.color, border: tones.text } },
    font: { ...node.font, face: tones.font, color: clear(tones.text, lit ? 0.92 : 0.1), strokeWidth: lit ? 4 : 0, strokeColor: tones.back, size: chosen ? Math.max(17, node.font.size) : node.font.size } };
}

// Light up a node with its neighbours, or one colour of the legend; the rest steps back.
function shine(state) {
  if (!state.network) return;
  const { tones, data } = state, on = (id) => state.lit === null || state.lit.has(id);
  state.nodes.update(data.nodes.map((node) => look(node, state)));
  state.edges.update(data.edges.map((edge, n) => {
    const own = state.focus !== null && (edge.from === state.focus || edge.to === state.focus);
    const seen = on(edge.from) && on(edge.to);
    return { id: n, color: { color: tones.text, opacity: own ? 0.6 : !seen ? 0.03 : state.focus !== null ? 0.1 : 0.2 } };
  }));
}

function focus(state, id, move = false) {
  state.focus = id;
  state.lit = id === null ? null : new Set([id, ...state.near[id].map((one) => one.id)]);
  state.legend?.querySelectorAll("[aria-pressed]").forEach((key) => key.setAttribute("aria-pressed", "false"));
  state.root.firstChild.setAttribute("data-key", id ?? "");
  shine(state);
  if (id !== null && move) state.network?.focus(id, { scale: Math.max(0.9, state.network.getScale()), animation: { duration: 350, easingFunction: "easeInOutQuad" } });
  state.network?.selectNodes(id === null ? [] : [id], false);
  aside(state);
}

function light(state, ids, key) {
  const off = key.getAttribute("aria-pressed") === "true";
  focus(state, null);
  state.lit = off ? null : new Set(ids);
  key.setAttribute("aria-pressed", String(!off));
  shine(state);
}

const fit = (state, animation = { duration: 300, easingFunction: "easeInOutQuad" }) => {
  state.network?.fit({ animation, maxZoomLevel: 1.35 });
};
const zoom = (state, by) => state.network?.moveTo({ scale: Math.min(4, Math.max(0.1, state.network.getScale() * by)), animation: { duration: 160, easingFunction: "linear" } });
const centre = (state, id) => state.send("centre", { id, label: state.data.about[id].label, n: Date.now() });

function tip(state, id, at) {
  state.tip.hidden = id === null;
  state.stage.classList.toggle("over", id !== null);
  if (id === null) return;
  const one = state.data.about[id];
  state.tip.replaceChildren(el("strong", {}, one.label), el("div", { class: "muted small" }, [one.kind, ...one.facts.slice(0, 2).map(([name, value]) => `${name} ${value}`)].join(" · ")));
  const { clientWidth: width, clientHeight: height } = state.stage;
  Object.assign(state.tip.style, { left: `${Math.min(at.x + 14, Math.max(0, width - 290))}px`, top: `${Math.min(at.y + 16, height - 70)}px` });
}

// ------------------------------------------------------------ around the canvas

function frame(root, state) {
  const { data } = state;
  Object.assign(state, { root, stage: el("div", { class: "stage", "aria-label": "Network of nodes; the list beside it holds the same" }), tip: el("div", { class: "tip" }), side: el("aside", { class: "side" }) });
  state.tip.hidden = true;
  state.legend = el("div", { class: "legend" },
    data.legend.map((row) => { const key = el("button", { type: "button", class: "key", "aria-pressed": "false", style: { "--own": row.color }, onclick: () => light(state, row.ids, key) }, el("span", { class: "mark dot" }), `${row.name} (${row.ids.length})`); return key; }),
    data.shapes.length > 1 ? data.shapes.map(([shape, name]) => el("span", { class: "key still" }, el("span", { class: `mark ${shape}` }), name)) : null);
  root.replaceChildren(el("div", { class: "frame", "data-key": "", onkeydown: (event) => { if (event.key === "Escape") focus(state, null); } },
    el("div", { class: "field" }, state.stage, finder(state),
      el("div", { class: "zoom" }, button("+", () => zoom(state, 1.3), { title: "Closer" }), button("−", () => zoom(state, 1 / 1.3), { title: "Farther" }), button("Fit", () => fit(state), { title: "Show everything" })),
      state.legend, state.tip),
    state.side));
  aside(state);
}

function finder(state) {
  const list = el("div", { class: "matches" }), box = el("input", { type: "search", placeholder: `Find among ${state.data.nodes.length} nodes`, "aria-label": "Find a node" });
  const go = (id) => { box.value = ""; list.replaceChildren(); focus(state, id, true); };
  const found = () => { const words = box.value.toLowerCase().trim(); return words ? Object.keys(state.data.about).filter((id) => state.data.about[id].label.toLowerCase().includes(words)).slice(0, 7) : []; };
  box.addEventListener("input", () => list.replaceChildren(...found().map((id) => line(state, id, "", () => go(id)))));
  box.addEventListener("keydown", (event) => { if (event.key === "Enter" && found().length) go(found()[0]); });
  return el("div", { class: "finder" }, box, list);
}

const line = (state, id, how, act) => el("button", { type: "button", class: "line", title: state.data.about[id].label, onclick: act, style: { "--own": state.data.about[id].color } },
  mark(state, id), el("span", { class: "text" }, state.data.about[id].label), how ? el("span", { class: "how" }, how) : null);

const mark = (state, id) => el("span", { class: `mark ${state.data.nodes.find((node) => node.id === id).shape}`, style: { "--own": state.data.about[id].color } });

function aside(state) {
  const { data, side } = state;
  side.replaceChildren(...(state.focus === null ? overview(state) : details(state, data.about[state.focus])));
  side.scrollTop = 0;
}

// Nothing chosen: the largest nodes, so that the keyboard reaches what the mouse reaches.
function overview(state) {
  const largest = [...state.data.nodes].sort((a, b) => b.size - a.size || (a.id < b.id ? -1 : 1)).slice(0, 16);
  return [el("h3", {}, `${state.data.nodes.length} nodes, ${state.data.edges.length} relations`),
    el("div", { class: "muted small" }, "Click a node to see what it is, where it comes from and what it touches. Double-click looks around it."),
    el("h4", {}, "Largest"), el("div", { class: "lines" }, largest.map((node) => line(state, node.id, "", () => focus(state, node.id, true))))];
}

function details(state, one) {
  const near = state.near[state.focus], open = (doc) => state.send("open", { doc, n: Date.now() });
  return [
    el("div", { class: "kind" }, mark(state, state.focus), one.kind),
    el("h3", {}, one.label),
    el("dl", {}, one.facts.map(([name, value]) => [el("dt", {}, name), el("dd", {}, value)])),
    one.detail ? el("div", { class: "detail" }, one.detail) : null,
    el("div", { class: "row acts" }, one.centre ? button("Look around it", () => centre(state, state.focus), { kind: "outline" }) : null, button("Back to all", () => { focus(state, null); fit(state); })),
    one.sources.length ? [el("h4", {}, one.kind === "Document" || one.kind === "Passage" ? "Open" : `In ${one.sources.length} ${one.sources.length === 1 ? "document" : "documents"}`),
      one.sources.map(([doc, title, path]) => inside({ class: "source" }, `/documents?doc=${encodeURIComponent(doc)}`, () => open(doc), title, el("span", {}, path)))] : null,
    near.length ? [el("h4", {}, `Touches ${near.length}`), el("div", { class: "lines" }, near.slice(0, 40).map((to) => line(state, to.id, to.label || "", () => focus(state, to.id, true))))] : null,
  ].flat(9).filter(Boolean);
}

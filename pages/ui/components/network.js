// A network on a canvas. vis-network draws the shapes; labels are painted here, and all other text is text nodes.
export default function ({ data, parentElement, setTriggerValue }) {
  const root = parentElement.querySelector("#root");
  const state = memory(root, () => ({ focus: null, lit: null, serial: "" }));
  state.send = setTriggerValue;
  const tones = theme(root);
  const serial = JSON.stringify([data.nodes, data.edges, tones]);
  const unmount = () => {
    state.network?.destroy();
    state.network = null;
    state.serial = "";
  };
  if (state.serial === serial) return unmount;
  Object.assign(state, {
    data,
    tones,
    serial,
    lit: null,
    focus: data.about[state.focus] ? state.focus : null,
    neighbours: neighbours(data),
  });
  drawFrame(root, state);
  visNetwork().then((vis) => {
    if (state.serial === serial) drawNetwork(vis, state);
  });
  return unmount;
}

// The bundle is a script of its own and may arrive later.
async function visNetwork() {
  while (!globalThis.vis?.Network) await new Promise((resolve) => setTimeout(resolve, 20));
  return globalThis.vis;
}

function theme(root) {
  const style = getComputedStyle(root);
  const value = (name) => style.getPropertyValue(name).trim();
  return {
    text: value("--st-text-color"),
    back: value("--st-background-color"),
    font: value("--st-font") || "sans-serif",
  };
}

// The neighbours of each node, the strongest relation first.
function neighbours({ relations, about }) {
  const near = Object.fromEntries(Object.keys(about).map((id) => [id, []]));
  for (const [a, b, label, weight] of relations) {
    near[a]?.push({ id: b, label, weight });
    near[b]?.push({ id: a, label, weight });
  }
  for (const list of Object.values(near)) list.sort((a, b) => b.weight - a.weight || (a.id < b.id ? -1 : 1));
  return near;
}

// ------------------------------------------------------------ the canvas

const MARGIN = { left: 64, right: 64, top: 66, bottom: 34 }; // pixels of the stage without nodes

// Positions come in a box of their own; stretch it to the stage, so that nothing is scaled at the first look.
function fillStage(state) {
  const { nodes } = state.data;
  const halfWidth = (state.stage.clientWidth - MARGIN.left - MARGIN.right) / 2;
  const halfHeight = (state.stage.clientHeight - MARGIN.top - MARGIN.bottom) / 2;
  const largest = (axis) => Math.max(1, ...nodes.map((node) => Math.abs(node[axis])));
  const [scaleX, scaleY] = [halfWidth / largest("x"), halfHeight / largest("y")];
  const positions = nodes.map((node) => ({ x: node.x * scaleX, y: node.y * scaleY }));
  for (let round = 0; round < 40; round++) {
    separate(nodes, positions);
    for (const position of positions) {
      position.x = clamp(position.x, halfWidth);
      position.y = clamp(position.y, halfHeight);
    }
  }
  return new Map(nodes.map((node, n) => [node.id, positions[n]]));
}

const clamp = (value, limit) => Math.max(-limit, Math.min(limit, value));

// Push nodes apart that would cover each other.
function separate(nodes, positions) {
  for (let a = 0; a < positions.length; a++)
    for (let b = a + 1; b < positions.length; b++) {
      const dx = positions[b].x - positions[a].x;
      const dy = positions[b].y - positions[a].y;
      const distance = Math.hypot(dx, dy) || 1;
      const overlap = nodes[a].size + nodes[b].size + 7 - distance;
      if (overlap <= 0) continue;
      const share = overlap / distance / 4;
      positions[a].x -= dx * share;
      positions[a].y -= dy * share;
      positions[b].x += dx * share;
      positions[b].y += dy * share;
    }
}

function drawNetwork(vis, state) {
  const { data, tones, stage } = state;
  state.network?.destroy();
  const positions = fillStage(state);
  state.nodes = new vis.DataSet(data.nodes.map((node) => ({ ...nodeStyle(node, state), ...positions.get(node.id) })));
  state.edges = new vis.DataSet(
    data.edges.map((edge, n) => ({ ...edge, id: n, color: { color: tones.text, opacity: 0.2 } })),
  );
  state.network = stage.network = new vis.Network(
    stage,
    { nodes: state.nodes, edges: state.edges },
    { ...data.options, autoResize: true, height: "100%", width: "100%" },
  );
  state.network.on("afterDrawing", (brush) => paintLabels(state, brush));
  state.network.on("click", ({ nodes }) => focus(state, nodes[0] ?? null));
  state.network.on("doubleClick", ({ nodes }) => {
    if (nodes[0] && data.about[nodes[0]].centre) centre(state, nodes[0]);
  });
  state.network.on("hoverNode", ({ node, pointer }) => showTip(state, node, pointer.DOM));
  for (const event of ["blurNode", "dragStart", "zoom", "click"]) state.network.on(event, () => hideTip(state));
  fit(state, false);
  if (state.focus) focus(state, state.focus);
}

const isStart = (node) => node.borderWidth > 2;
const isLit = (state, id) => state.lit === null || state.lit.has(id);

function nodeStyle(node, state) {
  const { tones } = state;
  const chosen = node.id === state.focus;
  const { x, y, label, ...style } = node; // the position is ours, and so is the label
  const active = { background: node.color, border: tones.text };
  return {
    ...style,
    opacity: isLit(state, node.id) ? 1 : 0.14,
    borderWidth: chosen ? 3 : node.borderWidth,
    borderWidthSelected: 3,
    color: {
      background: node.color,
      border: chosen || isStart(node) ? tones.text : tones.back,
      highlight: active,
      hover: active,
    },
  };
}

// ------------------------------------------------------------ labels

// Labels are painted by importance, each only where it covers no other label and no node. Boxes are in canvas units.
function paintLabels(state, brush) {
  const scale = state.network.getScale();
  const positions = state.network.getPositions();
  const stage = stageBoxes(state);
  const taken = [...stage.controls, ...state.data.nodes.map((node) => nodeBox(node, positions[node.id]))];
  const nodes = state.data.nodes
    .filter((node) => isLit(state, node.id))
    .sort((a, b) => importance(state, b) - importance(state, a) || (a.id < b.id ? -1 : 1));
  Object.assign(brush, {
    textAlign: "center",
    textBaseline: "middle",
    lineJoin: "round",
    lineWidth: 4 / scale,
    strokeStyle: state.tones.back,
    fillStyle: state.tones.text,
  });
  for (const node of nodes) {
    const height = labelHeight(state, node) / scale;
    brush.font = `${node.id === state.focus || isStart(node) ? 600 : 400} ${height}px ${state.tones.font}`;
    const halfWidth = brush.measureText(node.label).width / 2 + 2 / scale;
    const place = labelPlace(state, node, positions[node.id], { halfWidth, height, scale }, stage.visible, taken);
    if (!place) continue;
    taken.push(labelBox(place, halfWidth, height));
    brush.strokeText(node.label, ...place);
    brush.fillText(node.label, ...place);
  }
}

const MUST_SHOW = 1e5; // the chosen node and the start have their label in any case
const importance = (state, node) =>
  (node.id === state.focus ? 1e6 : 0) +
  (isStart(node) ? MUST_SHOW : 0) +
  (state.lit?.has(node.id) ? 1e4 : 0) +
  node.size;

const labelHeight = (state, node) => (node.id === state.focus ? 15 : Math.min(14.5, 10.5 + node.size / 6));

// Below, above, right or left of the node: the first place that is free, or none.
function labelPlace(state, node, { x, y }, { halfWidth, height, scale }, visible, taken) {
  const below = node.size + 4 / scale + height / 2;
  const beside = halfWidth + node.size + 5 / scale;
  const places = [
    [x, y + below],
    [x, y - below],
    [x + beside, y],
    [x - beside, y],
  ];
  const isFree = (place) => {
    const box = labelBox(place, halfWidth, height);
    return isWithin(box, visible) && taken.every((other) => other.node === node.id || !overlap(box, other));
  };
  const place = places.find(isFree);
  if (place || importance(state, node) < MUST_SHOW) return place;
  return [Math.max(visible.left + halfWidth, Math.min(visible.right - halfWidth, x)), y + below];
}

const labelBox = ([x, y], halfWidth, height) => ({
  left: x - halfWidth,
  top: y - height * 0.56,
  right: x + halfWidth,
  bottom: y + height * 0.56,
});

function nodeBox(node, { x, y }) {
  const radius = node.size + 1;
  return { left: x - radius, top: y - radius, right: x + radius, bottom: y + radius, node: node.id };
}

// What of the canvas is visible, and where the search box and the buttons stand on it.
function stageBoxes(state) {
  const { clientWidth: width, clientHeight: height } = state.stage;
  const box = (left, top, right, bottom) => {
    const [from, to] = [
      [left, top],
      [right, bottom],
    ].map(([x, y]) => state.network.DOMtoCanvas({ x, y }));
    return { left: from.x, top: from.y, right: to.x, bottom: to.y };
  };
  return {
    visible: box(4, 4, width - 4, height - 4),
    controls: [box(0, 0, 250, 50), box(width - 130, 0, width - 4, 48)],
  };
}

const isWithin = (box, outer) =>
  box.left > outer.left && box.right < outer.right && box.top > outer.top && box.bottom < outer.bottom;

const overlap = (a, b) => !(a.right < b.left || a.left > b.right || a.bottom < b.top || a.top > b.bottom);

// ------------------------------------------------------------ choosing a node

// Light up a node with its neighbours, or one colour of the legend; the rest fades.
function updateColours(state) {
  if (!state.network) return;
  const { tones, data } = state;
  state.nodes.update(data.nodes.map((node) => nodeStyle(node, state)));
  state.edges.update(
    data.edges.map((edge, n) => ({ id: n, color: { color: tones.text, opacity: edgeOpacity(state, edge) } })),
  );
}

function edgeOpacity(state, { from, to }) {
  if (state.focus !== null && (from === state.focus || to === state.focus)) return 0.6;
  if (!isLit(state, from) || !isLit(state, to)) return 0.03;
  return state.focus !== null ? 0.1 : 0.2;
}

function focus(state, id, move = false) {
  state.focus = id;
  state.lit = id === null ? null : new Set([id, ...state.neighbours[id].map((neighbour) => neighbour.id)]);
  state.legend?.querySelectorAll("[aria-pressed]").forEach((key) => key.setAttribute("aria-pressed", "false"));
  state.root.firstChild.setAttribute("data-key", id ?? "");
  updateColours(state);
  if (id !== null && move)
    state.network?.focus(id, {
      scale: Math.max(1, state.network.getScale()),
      animation: { duration: 350, easingFunction: "easeInOutQuad" },
    });
  state.network?.selectNodes(id === null ? [] : [id], false);
  drawSide(state);
}

function toggleColour(state, ids, key) {
  const wasOn = key.getAttribute("aria-pressed") === "true";
  focus(state, null);
  state.lit = wasOn ? null : new Set(ids);
  key.setAttribute("aria-pressed", String(!wasOn));
  updateColours(state);
}

const fit = (state, animation = { duration: 300, easingFunction: "easeInOutQuad" }) =>
  state.network?.moveTo({ position: { x: 0, y: (MARGIN.bottom - MARGIN.top) / 2 }, scale: 1, animation });

const zoom = (state, factor) =>
  state.network?.moveTo({
    scale: Math.min(4, Math.max(0.1, state.network.getScale() * factor)),
    animation: { duration: 160, easingFunction: "linear" },
  });

const centre = (state, id) => {
  focus(state, null);
  state.send("centre", { id, label: state.data.about[id].label, n: Date.now() });
};

function showTip(state, id, pointer) {
  const { label, kind, facts } = state.data.about[id];
  const { clientWidth: width, clientHeight: height } = state.stage;
  const summary = [kind, ...facts.slice(0, 2).map(([name, value]) => `${name} ${value}`)].join(" · ");
  state.tip.replaceChildren(el("strong", label), el("div.muted.small", summary));
  Object.assign(state.tip.style, {
    left: `${Math.min(pointer.x + 14, Math.max(0, width - 290))}px`,
    top: `${Math.min(pointer.y + 16, height - 70)}px`,
  });
  state.tip.hidden = false;
  state.stage.classList.add("over");
}

function hideTip(state) {
  state.tip.hidden = true;
  state.stage.classList.remove("over");
}

// ------------------------------------------------------------ around the canvas

function drawFrame(root, state) {
  Object.assign(state, {
    root,
    stage: el("div.stage", { role: "group", "aria-label": "Network of nodes; the list beside it holds the same" }),
    tip: el("div.tip"),
    side: el("aside.side"),
    legend: drawLegend(state),
  });
  state.tip.hidden = true;
  const onkeydown = (event) => {
    if (event.key === "Escape") focus(state, null);
  };
  const field = el("div.field", state.stage, nodeFinder(state), zoomButtons(state), state.tip);
  const main = el("div.main", field, state.legend);
  root.replaceChildren(el("div.frame", { "data-key": "", onkeydown }, main, state.side));
  drawSide(state);
}

const zoomButtons = (state) =>
  el(
    "div.zoom",
    button("+", () => zoom(state, 1.3), { title: "Closer" }),
    button("−", () => zoom(state, 1 / 1.3), { title: "Farther" }),
    button("Fit", () => fit(state), { title: "Show everything" }),
  );

function drawLegend(state) {
  const { legend, shapes } = state.data;
  const colourKey = ({ name, color, ids }) =>
    el(
      "button.key",
      {
        "aria-pressed": "false",
        style: { "--own": color },
        onclick: (event) => toggleColour(state, ids, event.currentTarget),
      },
      el("span.mark.dot"),
      `${name} (${ids.length})`,
    );
  const shapeKey = ([shape, name]) => el("span.key.still", el("span", { class: `mark ${shape}` }), name);
  return el("div.row.legend", legend.map(colourKey), shapes.length > 1 ? shapes.map(shapeKey) : null);
}

// A box that finds nodes by name; Enter goes to the first match.
function nodeFinder(state) {
  const { nodes, about } = state.data;
  const list = el("div.matches");
  const goTo = (id) => {
    box.value = "";
    list.replaceChildren();
    focus(state, id, true);
  };
  const matches = () => {
    const text = box.value.toLowerCase().trim();
    if (!text) return [];
    return Object.keys(about)
      .filter((id) => about[id].label.toLowerCase().includes(text))
      .slice(0, 7);
  };
  const box = el("input", {
    type: "search",
    placeholder: `Find among ${nodes.length} nodes`,
    "aria-label": "Find a node",
    oninput: () => list.replaceChildren(...matches().map((id) => nodeButton(state, id, "", () => goTo(id)))),
    onkeydown: (event) => {
      const [first] = event.key === "Enter" ? matches() : [];
      if (first !== undefined) goTo(first);
    },
  });
  return el("div.finder", box, list);
}

function nodeButton(state, id, relation, onclick) {
  const { label, color } = state.data.about[id];
  return el(
    "button.line",
    { title: label, onclick, style: { "--own": color } },
    nodeMark(state, id),
    el("span.text", label),
    relation ? el("span.how", relation) : null,
  );
}

const nodeMark = (state, id) =>
  el("span", {
    class: `mark ${state.data.nodes.find((node) => node.id === id).shape}`,
    style: { "--own": state.data.about[id].color },
  });

// ------------------------------------------------------------ beside the canvas

function drawSide(state) {
  const { data, side } = state;
  side.replaceChildren(...(state.focus === null ? overview(state) : details(state, data.about[state.focus])));
  side.scrollTop = 0;
}

const focusButtons = (state, neighbours) =>
  el(
    "div.lines",
    neighbours.map(({ id, relation }) => nodeButton(state, id, relation, () => focus(state, id, true))),
  );

const counted = (number, noun) => `${number} ${noun}${number === 1 ? "" : "s"}`;

// Nothing chosen: the largest nodes, so that the keyboard reaches what the mouse reaches.
function overview(state) {
  const { nodes, edges } = state.data;
  const largest = [...nodes].sort((a, b) => b.size - a.size || (a.id < b.id ? -1 : 1)).slice(0, 16);
  return [
    el("h2", `${counted(nodes.length, "node")}, ${counted(edges.length, "relation")}`),
    el(
      "div.muted.small",
      "Click a node to see what it is, where it comes from and what it touches.",
      state.data.offline ? null : " Double-click looks around it.",
    ),
    el("h3", "Largest"),
    focusButtons(
      state,
      largest.map(({ id }) => ({ id, relation: "" })),
    ),
  ];
}

function details(state, node) {
  const neighbours = state.neighbours[state.focus];
  const backToAll = () => {
    focus(state, null);
    fit(state);
  };
  return [
    el("div.kind", nodeMark(state, state.focus), node.kind),
    el("h2", node.label),
    el("dl", ...node.facts.map(([name, value]) => [el("dt", name), el("dd", value)])),
    node.detail ? el("div.detail", node.detail) : null,
    el(
      "div.row.acts",
      node.centre ? button("Look around it", () => centre(state, state.focus), { kind: "outline" }) : null,
      button("Back to all", backToAll),
    ),
    ...(node.sources.length ? sources(state, node) : []),
    neighbours.length ? el("h3", `Touches ${neighbours.length}`) : null,
    neighbours.length
      ? focusButtons(
          state,
          neighbours.slice(0, 40).map(({ id, label }) => ({ id, relation: label })),
        )
      : null,
  ].filter(Boolean);
}

function sources(state, node) {
  const count = node.sources.length;
  const isText = node.kind === "Document" || node.kind === "Passage";
  const title = isText ? "Open" : `In ${count} ${count === 1 ? "document" : "documents"}`;
  const links = node.sources.map(([doc, docTitle, path]) => {
    if (state.data.offline) return el("div.source", docTitle, el("span", path));
    const place = node.place || { doc };
    return inside({ class: "source" }, documentHref(place), docTitle, el("span", path));
  });
  return [el("h3", title), ...links];
}

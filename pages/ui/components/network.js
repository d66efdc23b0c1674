// A network on a canvas. vis-network only ever gets labels, which it paints; everything else is text nodes beside it.
export default function ({ data, parentElement, setTriggerValue }) {
  const root = parentElement.querySelector("#root");
  const state = memory(root, () => ({ focus: null, lit: null, serial: "" }));
  state.send = setTriggerValue;
  const tones = theme(root),
    serial = JSON.stringify([data.nodes, data.edges, tones]);
  const leave = () => {
    state.network?.destroy();
    state.network = null;
    state.serial = "";
  };
  if (state.serial === serial) return leave;
  Object.assign(state, {
    data,
    tones,
    serial,
    lit: null,
    focus: data.about[state.focus] ? state.focus : null,
    near: neighbours(data),
  });
  frame(root, state);
  library().then((vis) => {
    if (state.serial === serial) paint(vis, state);
  });
  return leave;
}

async function library() {
  while (!globalThis.vis?.Network) await new Promise((done) => setTimeout(done, 20));
  return globalThis.vis;
}

function theme(root) {
  const style = getComputedStyle(root),
    value = (name) => style.getPropertyValue(name).trim();
  return {
    text: value("--st-text-color"),
    back: value("--st-background-color"),
    font: value("--st-font") || "sans-serif",
  };
}

function neighbours({ relations, about }) {
  const near = Object.fromEntries(Object.keys(about).map((id) => [id, []]));
  for (const [a, b, label, weight] of relations) {
    near[a]?.push({ id: b, label, weight });
    near[b]?.push({ id: a, label, weight });
  }
  for (const list of Object.values(near)) list.sort((a, b) => b.weight - a.weight || (a.id < b.id ? -1 : 1));
  return near;
}

const clear = (color, share) => {
  // a colour of the theme, more or less transparent
  const [r, g, b] = [1, 3, 5].map((at) => parseInt(color.slice(at, at + 2), 16));
  return Number.isNaN(r + g + b) ? color : `rgba(${r},${g},${b},${share})`;
};

// ------------------------------------------------------------ the canvas

// Positions come in a box of their own; here they fill the stage, so that sizes are true at the first look.
const ROOM = { left: 64, right: 64, top: 66, bottom: 34 };

function spread(state) {
  const { nodes } = state.data,
    wide = state.stage.clientWidth - ROOM.left - ROOM.right,
    high = state.stage.clientHeight - ROOM.top - ROOM.bottom;
  const over = (name) => Math.max(1, ...nodes.map((node) => Math.abs(node[name])));
  const x = wide / (2 * over("x")),
    y = high / (2 * over("y"));
  const at = nodes.map((node) => ({ x: node.x * x, y: node.y * y }));
  for (let round = 0; round < 40; round++) apart(nodes, at, wide / 2, high / 2);
  return new Map(nodes.map((node, n) => [node.id, at[n]]));
}

// Nodes that would cover each other step aside, and stay inside.
function apart(nodes, at, wide, high) {
  for (let a = 0; a < at.length; a++)
    for (let b = a + 1; b < at.length; b++) {
      const x = at[b].x - at[a].x,
        y = at[b].y - at[a].y,
        far = Math.hypot(x, y) || 1,
        short = nodes[a].size + nodes[b].size + 7 - far;
      if (short > 0) {
        const by = short / far / 4;
        at[a].x -= x * by;
        at[a].y -= y * by;
        at[b].x += x * by;
        at[b].y += y * by;
      }
    }
  for (const one of at) {
    one.x = Math.max(-wide, Math.min(wide, one.x));
    one.y = Math.max(-high, Math.min(high, one.y));
  }
}

function paint(vis, state) {
  const { data, tones, stage } = state;
  state.network?.destroy();
  state.at = spread(state);
  state.nodes = new vis.DataSet(data.nodes.map((node) => ({ ...look(node, state), ...state.at.get(node.id) })));
  state.edges = new vis.DataSet(
    data.edges.map((edge, n) => ({ ...edge, id: n, color: { color: tones.text, opacity: 0.2 } })),
  );
  state.network = stage.network = new vis.Network(
    stage,
    { nodes: state.nodes, edges: state.edges },
    { ...data.options, autoResize: true, height: "100%", width: "100%" },
  );
  state.network.on("afterDrawing", (brush) => names(state, brush));
  state.network.on("click", ({ nodes }) => focus(state, nodes[0] ?? null));
  state.network.on("doubleClick", ({ nodes }) => {
    if (nodes[0] && data.about[nodes[0]].centre) centre(state, nodes[0]);
  });
  state.network.on("hoverNode", ({ node, pointer }) => tip(state, node, pointer.DOM));
  for (const away of ["blurNode", "dragStart", "zoom", "click"]) state.network.on(away, () => tip(state, null));
  fit(state, false);
  if (state.focus) focus(state, state.focus);
}

function look(node, state) {
  const { tones } = state,
    lit = state.lit === null || state.lit.has(node.id),
    start = node.borderWidth > 2,
    chosen = node.id === state.focus;
  const { x, y, label, ...rest } = node;
  const edge = chosen || start ? tones.text : tones.back;
  return {
    ...rest,
    opacity: lit ? 1 : 0.14,
    borderWidth: chosen ? 3 : node.borderWidth,
    borderWidthSelected: 3,
    color: {
      background: node.color,
      border: edge,
      highlight: { background: node.color, border: tones.text },
      hover: { background: node.color, border: tones.text },
    },
  };
}

// Labels are painted here, the important ones first, each only where it covers no other label and no node.
function names(state, brush) {
  const scale = state.network.getScale(),
    seen = state.network.getPositions(),
    taken = [];
  const size = (node) => (node.id === state.focus ? 15 : Math.min(14.5, 10.5 + node.size / 6)) / scale;
  const weight = (node) =>
    (node.id === state.focus ? 1e6 : 0) +
    (node.borderWidth > 2 ? 1e5 : 0) +
    (state.lit?.has(node.id) ? 1e4 : 0) +
    node.size;
  const nodes = state.data.nodes
    .filter((node) => state.lit === null || state.lit.has(node.id))
    .sort((a, b) => weight(b) - weight(a) || (a.id < b.id ? -1 : 1));
  for (const node of state.data.nodes) {
    const { x, y } = seen[node.id],
      r = node.size + 1;
    taken.push([x - r, y - r, x + r, y + r, node.id]);
  }
  const { clientWidth: wide, clientHeight: high } = state.stage,
    corner = (x, y) => state.network.DOMtoCanvas({ x, y });
  const [first, last, desk, desked] = [corner(4, 4), corner(wide - 4, high - 4), corner(0, 0), corner(250, 50)];
  taken.push([desk.x, desk.y, desked.x, desked.y, ""], [corner(wide - 130, 0).x, desk.y, last.x, corner(0, 48).y, ""]); // the search box and the buttons
  Object.assign(brush, {
    textAlign: "center",
    textBaseline: "middle",
    lineJoin: "round",
    lineWidth: 4 / scale,
    strokeStyle: state.tones.back,
    fillStyle: state.tones.text,
  });
  for (const node of nodes) {
    const px = size(node),
      { x, y } = seen[node.id],
      gap = node.size + 4 / scale + px / 2;
    brush.font = `${node.id === state.focus || node.borderWidth > 2 ? 600 : 400} ${px}px ${state.tones.font}`;
    const half = brush.measureText(node.label).width / 2 + 2 / scale,
      side = half + node.size + 5 / scale;
    const free =
      [
        [x, y + gap],
        [x, y - gap],
        [x + side, y],
        [x - side, y],
      ].find(([at, line]) => {
        const box = [at - half, line - px * 0.56, at + half, line + px * 0.56];
        return (
          box[0] > first.x &&
          box[2] < last.x &&
          box[1] > first.y &&
          box[3] < last.y &&
          taken.every(([l, t, r, b, own]) => own === node.id || box[2] < l || box[0] > r || box[3] < t || box[1] > b)
        );
      }) ?? (weight(node) >= 1e5 ? [Math.max(first.x + half, Math.min(last.x - half, x)), y + gap] : null);
    if (!free) continue;
    taken.push([free[0] - half, free[1] - px * 0.56, free[0] + half, free[1] + px * 0.56, ""]);
    brush.strokeText(node.label, ...free);
    brush.fillText(node.label, ...free);
  }
}

// Light up a node with its neighbours, or one colour of the legend; the rest steps back.
function shine(state) {
  if (!state.network) return;
  const { tones, data } = state,
    on = (id) => state.lit === null || state.lit.has(id);
  state.nodes.update(data.nodes.map((node) => look(node, state)));
  state.edges.update(
    data.edges.map((edge, n) => {
      const own = state.focus !== null && (edge.from === state.focus || edge.to === state.focus);
      const seen = on(edge.from) && on(edge.to);
      return {
        id: n,
        color: { color: tones.text, opacity: own ? 0.6 : !seen ? 0.03 : state.focus !== null ? 0.1 : 0.2 },
      };
    }),
  );
}

function focus(state, id, move = false) {
  state.focus = id;
  state.lit = id === null ? null : new Set([id, ...state.near[id].map((one) => one.id)]);
  state.legend?.querySelectorAll("[aria-pressed]").forEach((key) => key.setAttribute("aria-pressed", "false"));
  state.root.firstChild.setAttribute("data-key", id ?? "");
  shine(state);
  if (id !== null && move)
    state.network?.focus(id, {
      scale: Math.max(1, state.network.getScale()),
      animation: { duration: 350, easingFunction: "easeInOutQuad" },
    });
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

const fit = (state, animation = { duration: 300, easingFunction: "easeInOutQuad" }) =>
  state.network?.moveTo({ position: { x: 0, y: (ROOM.bottom - ROOM.top) / 2 }, scale: 1, animation });
const zoom = (state, by) =>
  state.network?.moveTo({
    scale: Math.min(4, Math.max(0.1, state.network.getScale() * by)),
    animation: { duration: 160, easingFunction: "linear" },
  });
const centre = (state, id) => {
  focus(state, null);
  state.send("centre", { id, label: state.data.about[id].label, n: Date.now() });
};

function tip(state, id, at) {
  state.tip.hidden = id === null;
  state.stage.classList.toggle("over", id !== null);
  if (id === null) return;
  const one = state.data.about[id];
  state.tip.replaceChildren(
    el("strong", {}, one.label),
    el(
      "div",
      { class: "muted small" },
      [one.kind, ...one.facts.slice(0, 2).map(([name, value]) => `${name} ${value}`)].join(" · "),
    ),
  );
  const { clientWidth: width, clientHeight: height } = state.stage;
  Object.assign(state.tip.style, {
    left: `${Math.min(at.x + 14, Math.max(0, width - 290))}px`,
    top: `${Math.min(at.y + 16, height - 70)}px`,
  });
}

// ------------------------------------------------------------ around the canvas

function frame(root, state) {
  const { data } = state;
  Object.assign(state, {
    root,
    stage: el("div", { class: "stage", "aria-label": "Network of nodes; the list beside it holds the same" }),
    tip: el("div", { class: "tip" }),
    side: el("aside", { class: "side" }),
  });
  state.tip.hidden = true;
  state.legend = el(
    "div",
    { class: "legend" },
    data.legend.map((row) => {
      const key = el(
        "button",
        {
          type: "button",
          class: "key",
          "aria-pressed": "false",
          style: { "--own": row.color },
          onclick: () => light(state, row.ids, key),
        },
        el("span", { class: "mark dot" }),
        `${row.name} (${row.ids.length})`,
      );
      return key;
    }),
    data.shapes.length > 1
      ? data.shapes.map(([shape, name]) =>
          el("span", { class: "key still" }, el("span", { class: `mark ${shape}` }), name),
        )
      : null,
  );
  root.replaceChildren(
    el(
      "div",
      {
        class: "frame",
        "data-key": "",
        onkeydown: (event) => {
          if (event.key === "Escape") focus(state, null);
        },
      },
      el(
        "div",
        { class: "main" },
        el(
          "div",
          { class: "field" },
          state.stage,
          finder(state),
          el(
            "div",
            { class: "zoom" },
            button("+", () => zoom(state, 1.3), { title: "Closer" }),
            button("−", () => zoom(state, 1 / 1.3), { title: "Farther" }),
            button("Fit", () => fit(state), { title: "Show everything" }),
          ),
          state.tip,
        ),
        state.legend,
      ),
      state.side,
    ),
  );
  aside(state);
}

function finder(state) {
  const list = el("div", { class: "matches" }),
    box = el("input", {
      type: "search",
      placeholder: `Find among ${state.data.nodes.length} nodes`,
      "aria-label": "Find a node",
    });
  const go = (id) => {
    box.value = "";
    list.replaceChildren();
    focus(state, id, true);
  };
  const found = () => {
    const words = box.value.toLowerCase().trim();
    return words
      ? Object.keys(state.data.about)
          .filter((id) => state.data.about[id].label.toLowerCase().includes(words))
          .slice(0, 7)
      : [];
  };
  box.addEventListener("input", () => list.replaceChildren(...found().map((id) => line(state, id, "", () => go(id)))));
  box.addEventListener("keydown", (event) => {
    if (event.key === "Enter" && found().length) go(found()[0]);
  });
  return el("div", { class: "finder" }, box, list);
}

const line = (state, id, how, act) =>
  el(
    "button",
    {
      type: "button",
      class: "line",
      title: state.data.about[id].label,
      onclick: act,
      style: { "--own": state.data.about[id].color },
    },
    mark(state, id),
    el("span", { class: "text" }, state.data.about[id].label),
    how ? el("span", { class: "how" }, how) : null,
  );

const mark = (state, id) =>
  el("span", {
    class: `mark ${state.data.nodes.find((node) => node.id === id).shape}`,
    style: { "--own": state.data.about[id].color },
  });

function aside(state) {
  const { data, side } = state;
  side.replaceChildren(...(state.focus === null ? overview(state) : details(state, data.about[state.focus])));
  side.scrollTop = 0;
}

// Nothing chosen: the largest nodes, so that the keyboard reaches what the mouse reaches.
function overview(state) {
  const largest = [...state.data.nodes].sort((a, b) => b.size - a.size || (a.id < b.id ? -1 : 1)).slice(0, 16);
  return [
    el("h3", {}, `${state.data.nodes.length} nodes, ${state.data.edges.length} relations`),
    el(
      "div",
      { class: "muted small" },
      "Click a node to see what it is, where it comes from and what it touches. Double-click looks around it.",
    ),
    el("h4", {}, "Largest"),
    el(
      "div",
      { class: "lines" },
      largest.map((node) => line(state, node.id, "", () => focus(state, node.id, true))),
    ),
  ];
}

function details(state, one) {
  const near = state.near[state.focus],
    open = (place) => state.send("open", { ...place, n: Date.now() });
  return [
    el("div", { class: "kind" }, mark(state, state.focus), one.kind),
    el("h3", {}, one.label),
    el(
      "dl",
      {},
      one.facts.map(([name, value]) => [el("dt", {}, name), el("dd", {}, value)]),
    ),
    one.detail ? el("div", { class: "detail" }, one.detail) : null,
    el(
      "div",
      { class: "row acts" },
      one.centre ? button("Look around it", () => centre(state, state.focus), { kind: "outline" }) : null,
      button("Back to all", () => {
        focus(state, null);
        fit(state);
      }),
    ),
    one.sources.length
      ? [
          el(
            "h4",
            {},
            one.kind === "Document" || one.kind === "Passage"
              ? "Open"
              : `In ${one.sources.length} ${one.sources.length === 1 ? "document" : "documents"}`,
          ),
          one.sources.map(([doc, title, path]) => {
            const place = one.place || { doc };
            return inside(
              { class: "source" },
              `/documents?${new URLSearchParams(place)}`,
              () => open(place),
              title,
              el("span", {}, path),
            );
          }),
        ]
      : null,
    near.length
      ? [
          el("h4", {}, `Touches ${near.length}`),
          el(
            "div",
            { class: "lines" },
            near.slice(0, 40).map((to) => line(state, to.id, to.label || "", () => focus(state, to.id, true))),
          ),
        ]
      : null,
  ]
    .flat(9)
    .filter(Boolean);
}

// Columns side by side. Heads keep their elements while knobs move; hits are drawn anew and glide to their new places.
const GRADES = ["not relevant", "related", "relevant", "answers it"];

export default function ({ data, parentElement, setTriggerValue }) {
  const root = parentElement.querySelector("#root");
  const state = memory(root, () => ({
    sections: [],
    why: new Set(),
    sent: 0,
    timer: 0,
    shown: "",
    turned: new Map(),
    bar: el("div", {}),
    content: el("div", {}),
  }));
  state.send = setTriggerValue;
  if (!state.bar.isConnected) {
    root.replaceChildren(state.bar, state.content);
    root.addEventListener("keydown", (event) => keyboard(event, root, state));
  }
  if (ahead(state, data)) return;
  state.direct = data.direct;
  draw(root, state, data);
}

function draw(root, state, data) {
  state.data = data;
  state.grades = { ...data.grades };
  if (state.shown !== data.query) {
    state.shown = data.query;
    state.why.clear();
  }
  const before = places(root);
  refocus(root, () => {
    state.bar.replaceChildren(toolbar(state));
    const shown = data.blind ? pooled(root, state) : board(root, state);
    if (state.content.firstChild !== shown) state.content.replaceChildren(shown);
  });
  glide(root, before);
}

// A knob asks the server's own route and is drawn at once; the session hears of it when the hand rests, and again
// until what it draws shows that it heard: an answer to an older question never moves a knob back.
function turn(root, state, what) {
  state.turned.set(`${what.column}-${what.knob}`, what);
  state.tries = 0;
  rest(state, state.direct ? 450 : 30);
  if (state.direct) later(state, () => ask(root, state));
}

function rest(state, wait) {
  clearTimeout(state.rest);
  state.rest = setTimeout(() => state.send("turn", { turns: [...state.turned.values()], n: Date.now() }), wait);
}

function ahead(state, data) {
  if (state.data?.run !== data.run || state.tries++ > 6) state.turned.clear();
  for (const [key, what] of state.turned)
    if (data.setup.columns[what.column]?.config[what.knob] === what.value) state.turned.delete(key);
  if (state.turned.size) rest(state, 450);
  else clearTimeout(state.rest);
  return state.turned.size > 0;
}

const told = (state) => {
  const turns = [...state.turned.values()];
  state.turned.clear();
  clearTimeout(state.rest);
  return turns;
};

async function ask(root, state) {
  state.flight?.abort();
  const flight = (state.flight = new AbortController());
  const { setup, run, looked } = state.data;
  try {
    const answer = await fetch("/api/playground", {
      method: "POST",
      signal: flight.signal,
      headers: { Authorization: `Bearer ${state.direct}`, "Content-Type": "application/json" },
      body: JSON.stringify({ setup, run, looked, turns: [...state.turned.values()] }),
    });
    if (!answer.ok) {
      state.direct = null;
      rest(state, 0);
      return;
    }
    const moved = await answer.json();
    draw(root, state, {
      ...state.data,
      ...moved,
      columns: moved.columns.map((column, n) => joined(state.data.columns[n], column)),
    });
  } catch (error) {
    if (error.name !== "AbortError") {
      state.direct = null;
      rest(state, 0);
    }
  }
}

// An answer leaves out what stands on the page already: columns that did not move, passages that moved.
function joined(was, now) {
  const passages = new Map((was.hits || []).map((hit) => [hit.chunk, hit]));
  return {
    ...was,
    ...now,
    choices: was.choices,
    hits: (now.hits || was.hits || []).map((hit) => ({ ...passages.get(hit.chunk), ...hit })),
  };
}

// ------------------------------------------------------------ the line above

function toolbar(state) {
  const { data } = state;
  const link = button(
    "Copy link",
    (event) => {
      state.send("keep", { turns: told(state), n: Date.now() });
      copy(`${window.location.origin}${window.location.pathname}?link=${data.link}`, event.target);
    },
    { kind: "outline", key: "link", title: "A short link that shows this playground as it is now" },
  );
  return el(
    "div",
    { class: "toolbar" },
    el("span", { class: "muted" }, data.summary),
    el(
      "span",
      { class: "legend" },
      data.blind
        ? null
        : data.legend.map(([label, color]) =>
            el("span", {}, el("span", { class: "dot", style: { background: color } }), label),
          ),
    ),
    el("span", { class: "spring" }),
    data.blind || !data.query
      ? null
      : el(
          "span",
          { class: "hint" },
          el("kbd", {}, "↑↓←→"),
          " move ",
          el("kbd", {}, "0–3"),
          " judge ",
          el("kbd", {}, "W"),
          " why",
        ),
    data.columns.length < data.most && !data.blind
      ? button(
          "Add column",
          () => state.send("turn", { turns: [...told(state), { knob: "add", column: 0 }], n: Date.now() }),
          { kind: "outline", key: "add" },
        )
      : null,
    data.query ? link : null,
  );
}

// ------------------------------------------------------------ columns

// A column and its head stay in the page while they mean the same, so that a slider can be dragged while answers arrive.
function board(root, state) {
  const { columns, profiles, query } = state.data;
  if (state.sections.length !== columns.length) {
    state.sections = columns.map((_, n) => ({
      node: el("section", { class: "column", "data-key": `column-${n}` }),
      signature: "",
    }));
    state.board = el(
      "div",
      { class: `board n${columns.length}` },
      state.sections.map((section) => section.node),
    );
  }
  state.board.setAttribute("data-query", query);
  columns.forEach((column, n) => {
    const section = state.sections[n];
    const signature = JSON.stringify([
      column.name,
      column.choices,
      column.profile,
      profiles,
      column.knobs.map((knob) => [knob.knob, knob.min, knob.max]),
    ]);
    const content = JSON.stringify([
      column.hits,
      column.gone,
      column.warnings,
      column.error,
      column.empty,
      query,
      state.data.grades,
      state.data.around,
    ]);
    const kept = section.signature === signature && section.content === content; // a knob of another column was turned
    const fresh = kept ? section.body : body(root, state, column, n);
    section.content = content;
    if (section.signature === signature) {
      if (!kept) section.body.replaceWith(fresh);
    } else {
      Object.assign(section, { signature, head: buildHead(root, state, column, n) });
      section.node.style.setProperty("--own", column.color);
      section.node.replaceChildren(section.head.node, fresh);
    }
    section.body = fresh;
    section.head.update(column);
  });
  return state.board;
}

function buildHead(root, state, column, n) {
  const choose = (name, label, options, value) => {
    const select = el(
      "select",
      {
        "aria-label": label,
        "data-key": name,
        onchange: (event) =>
          state.send("turn", {
            turns: [...told(state), { knob: name, column: n, value: event.target.value }],
            n: Date.now(),
          }),
      },
      options.map((option) => el("option", { value: option }, option)),
    );
    select.value = value;
    return select;
  };
  const knobs = column.knobs.map((knob) => {
    const shown = el("output", {});
    const range = el("input", {
      type: "range",
      "data-key": knob.knob,
      "aria-label": `${knob.label} of column ${column.letter}`,
    });
    Object.assign(range, { min: knob.min, max: knob.max, step: knob.step });
    const one = {
      knob: knob.knob,
      range,
      shown,
      node: el("label", { class: "knob" }, el("span", {}, knob.label), range, shown),
    };
    range.addEventListener("input", () => {
      shown.textContent = range.value;
      paint(range);
      one.mine = { value: Number(range.value), until: Date.now() + 4000 };
      turn(root, state, { knob: knob.knob, column: n, value: Number(range.value) });
    });
    return one;
  });
  const about = el("div", { class: "about" });
  const status = el("div", {});
  const node = el(
    "header",
    { class: "head" },
    el(
      "div",
      { class: "row top" },
      el("span", { class: "letter" }, column.letter),
      choose("preset", `Configuration of column ${column.letter}`, column.choices, column.name),
      el("span", { class: "spring" }),
      button(state.data.columns.length > 3 ? "⚙" : "Adjust", () => state.send("adjust", { column: n, n: Date.now() }), {
        key: "adjust",
        title: "Every value of this configuration",
      }),
      state.data.columns.length > 1
        ? button(
            "×",
            () => state.send("turn", { turns: [...told(state), { knob: "remove", column: n }], n: Date.now() }),
            { key: "remove", title: `Remove column ${column.letter}` },
          )
        : null,
    ),
    about,
    state.data.profiles.length > 1
      ? el(
          "label",
          { class: "knob" },
          el("span", {}, "profile"),
          choose("profile", `Profile of column ${column.letter}`, state.data.profiles, column.profile),
        )
      : null,
    knobs.map((knob) => knob.node),
    status,
  );
  const update = (fresh) => {
    about.textContent = fresh.about;
    for (const knob of knobs) {
      const value = fresh.knobs.find((one) => one.knob === knob.knob).value;
      if (knob.mine && knob.mine.value !== value && Date.now() < knob.mine.until) continue; // an answer to an older question
      knob.mine = null;
      knob.range.value = value;
      knob.shown.textContent = knob.range.value;
      paint(knob.range);
    }
    status.replaceChildren(...statusOf(fresh));
  };
  return { node, update };
}

const paint = (range) =>
  range.style.setProperty("--at", `${(100 * (range.value - range.min)) / (range.max - range.min)}%`);

// At most one message per frame while a knob moves: the first at once, and always the last one.
function later(state, act) {
  const wait = 16 - (Date.now() - state.sent),
    go = () => {
      state.timer = 0;
      state.sent = Date.now();
      act();
    };
  clearTimeout(state.timer);
  if (wait <= 0) go();
  else state.timer = setTimeout(go, wait);
}

function statusOf(column) {
  if (!column.stages || !column.stages.length) return [];
  const total = column.stages.reduce((sum, stage) => sum + stage.ms, 0) || 1;
  const words = column.stages.map((stage) => `${stage.label} ${stage.ms.toFixed(1)} ms`).join("\n");
  return [
    el(
      "div",
      { class: "time", title: words },
      el(
        "div",
        { class: "stages" },
        column.stages.map((stage) =>
          el("div", { style: { flex: `${Math.max(stage.ms, total / 60)} 0 0`, background: stage.color } }),
        ),
      ),
      el("span", { class: "ms" }, total >= 1000 ? `${(total / 1000).toFixed(1)} s` : `${total.toFixed(0)} ms`),
    ),
    column.cost ? el("div", { class: "note" }, `Cost $${column.cost.toFixed(4)}`) : null,
    column.note ? el("div", { class: "note" }, column.note) : null,
    ...column.pairs.map((pair) =>
      el(
        "div",
        {
          class: "pair",
          title: pair.by === "doc" ? "Compared by document: the profiles cut them differently" : "Compared by passage",
        },
        el("span", { class: "letter small", style: { "--own": pair.color } }, pair.with),
        el("span", {}, el("b", {}, `${pair.overlap}/${pair.of}`), el("span", { class: "word" }, " shared")),
        el("span", { title: "Jaccard: shared as a part of all" }, "J ", el("b", {}, pair.jaccard)),
        el("span", { title: "Rank-biased overlap, p = 0.9" }, "RBO ", el("b", {}, pair.rbo)),
        el(
          "span",
          { title: "Pairs in opposite order" },
          el("b", {}, pair.swaps),
          pair.swaps === 1 ? " swap" : " swaps",
        ),
      ),
    ),
  ].filter(Boolean);
}

function body(root, state, column, n) {
  const { data } = state;
  if (column.error) return el("div", { class: "notice bad", role: "alert" }, column.error);
  if (!data.query) return el("div", { class: "blank muted" }, "Run a query to fill this column.");
  return el(
    "div",
    { class: "hits" },
    column.warnings.map((text) => el("div", { class: "notice bad", role: "alert" }, text)),
    column.empty
      ? el(
          "div",
          { class: "blank" },
          el("div", { class: "glyph" }, "∅"),
          el("b", {}, "Nothing found"),
          el("div", { class: "muted small" }, "No leg has a candidate that the filters admit."),
        )
      : null,
    column.hits.map((hit) => card(root, state, column, hit, n)),
    column.gone.length
      ? el(
          "div",
          { class: "gone" },
          el("div", { class: "muted" }, `In A, not here: ${column.gone.length}`),
          column.gone.map((hit) =>
            el(
              "div",
              {},
              el("span", { class: "was" }, hit.rank),
              `${hit.title}${hit.heading ? ` › ${hit.heading}` : ""}`,
            ),
          ),
        )
      : null,
  );
}

// ------------------------------------------------------------ one hit

const MOVES = {
  up: ["▲", "up", "up"],
  down: ["▼", "down", "down"],
  same: ["=", "same", "as in A"],
  new: ["new", "fresh", "not in A"],
};

function move({ kind, steps }) {
  const [sign, tone, words] = MOVES[kind];
  return el(
    "span",
    { class: `move ${tone}`, title: steps ? `${words} ${steps} against A` : words },
    steps ? `${sign} ${steps}` : sign,
  );
}

const marked = (hit) =>
  el(
    "div",
    { class: "text" },
    hit.cut[0] ? "… " : null,
    hit.segments.map(([text, matched, best]) => {
      const inner = matched ? el("mark", {}, text) : document.createTextNode(text);
      return best ? el("span", { class: "best" }, inner) : inner;
    }),
    hit.cut[1] ? " …" : null,
  );

const path = (hit) => `/documents?${new URLSearchParams(hit.place)}`;

function card(root, state, column, hit, n) {
  const id = `${n}-${hit.chunk}`;
  const whole = Math.max(...column.hits.map((one) => one.legs.reduce((sum, leg) => sum + leg.part, 0))) || 1;
  const bar = el(
    "div",
    { class: "score", title: hit.legs.map((leg) => `${leg.label}: ${leg.gave}`).join("\n") },
    hit.legs.map((leg) => el("div", { style: { width: `${(100 * leg.part) / whole}%`, background: leg.color } })),
  );
  const drawer = el("div", {});
  const fill = () =>
    drawer.replaceChildren(
      ...(state.why.has(id) ? [why(hit)] : []),
      ...(state.data.around[hit.chunk] ? [around(state.data.around[hit.chunk])] : []),
    );
  const toggle = button(
    "Why",
    () => {
      state.why.has(id) ? state.why.delete(id) : state.why.add(id);
      toggle.setAttribute("aria-expanded", state.why.has(id));
      fill();
    },
    { key: "why" },
  );
  toggle.setAttribute("aria-expanded", state.why.has(id));
  fill();
  const node = el(
    "article",
    {
      class: "hit",
      tabindex: "0",
      "data-key": hit.chunk,
      "aria-label": `Rank ${hit.rank}: ${hit.title}`,
      onmouseenter: () => together(root, hit.chunk, true),
      onmouseleave: () => together(root, hit.chunk, false),
      onfocus: () => together(root, hit.chunk, true),
      onblur: () => together(root, hit.chunk, false),
    },
    el(
      "div",
      { class: "row place" },
      el("span", { class: "rank" }, hit.rank),
      hit.move ? move(hit.move) : null,
      el("span", { class: "spring" }),
      grades(root, state, hit),
    ),
    el(
      "div",
      { class: "title" },
      inside({ "data-key": "title" }, path(hit), () => state.send("open", hit.place), hit.title),
    ),
    el(
      "div",
      { class: "row meta" },
      hit.heading.length ? el("span", { class: "crumb" }, hit.heading.join(" › ")) : null,
      el("span", { class: "badge", title: `Version ${hit.version} of ${hit.doc}` }, `v${hit.version}`),
      hit.badges.map(badge),
    ),
    marked(hit),
    bar,
    el(
      "div",
      { class: "row actions" },
      toggle,
      button(
        state.data.around[hit.chunk] ? "Less" : "Around it",
        () => state.send("look", { chunk: hit.chunk, column: n, n: Date.now() }),
        { key: "around", title: "Neighbours and parent" },
      ),
      inside({ class: "button", "data-key": "open" }, path(hit), () => state.send("open", hit.place), "Open"),
    ),
    drawer,
  );
  node.why = () => toggle.click();
  return node;
}

function why(hit) {
  return el(
    "div",
    { class: "why" },
    hit.legs.map((leg) =>
      el(
        "div",
        { class: "leg" },
        el(
          "div",
          { class: "row" },
          el("span", { class: "dot", style: { background: leg.color } }),
          el("b", {}, leg.label),
          el("span", { class: "spring" }),
          el("span", {}, `gave ${leg.gave}`),
        ),
        el(
          "div",
          { class: "muted facts" },
          el("span", {}, `rank ${leg.rank}`),
          el("span", {}, `raw ${leg.raw}`),
          el("span", {}, `scaled ${leg.scaled}`),
          el("span", {}, `weight ${leg.weight}`),
        ),
      ),
    ),
    el("div", { class: "sum" }, hit.sentence),
  );
}

const around = (text) =>
  el(
    "div",
    { class: "around" },
    [
      ["Before", text.before],
      ["After", text.after],
      ["Parent", text.parent],
    ]
      .filter(([, words]) => words)
      .map(([label, words]) => [el("div", { class: "label" }, label), el("div", { class: "words" }, words)]),
  );

function together(root, chunk, on) {
  for (const node of root.querySelectorAll("article"))
    node.classList.toggle("same", on && node.getAttribute("data-key") === chunk);
}

// ------------------------------------------------------------ judging

function grades(root, state, hit) {
  const given = state.grades[hit.chunk];
  return el(
    "span",
    { class: "grades", role: "group", "aria-label": "How relevant" },
    GRADES.map((words, grade) =>
      el(
        "button",
        {
          type: "button",
          class: `grade g${grade}`,
          "data-key": `grade ${grade}`,
          title: `${grade}: ${words}`,
          "aria-label": `Grade ${grade}: ${words}`,
          "aria-pressed": given === grade ? "true" : "false",
          onclick: (event) => {
            event.stopPropagation();
            judge(root, state, hit.chunk, grade);
          },
        },
        grade,
      ),
    ),
  );
}

function judge(root, state, chunk, grade) {
  state.grades[chunk] = state.data.grades[chunk] = grade;
  for (const node of root.querySelectorAll("article")) {
    if (node.getAttribute("data-key") !== chunk) continue;
    node
      .querySelectorAll(".grade")
      .forEach((one, n) => one.setAttribute("aria-pressed", n === grade ? "true" : "false"));
  }
  state.send("judge", { chunk, grade, n: Date.now() });
}

function pooled(root, state) {
  const { data } = state;
  const done = data.pool.filter((hit) => state.grades[hit.chunk] !== undefined).length;
  return el(
    "div",
    { class: "pool" },
    el(
      "p",
      { class: "muted" },
      `${data.pool.length} passages of all columns, shuffled, without ranks. Grade with 0 to 3; ${done} done.`,
    ),
    data.pool.map((hit) =>
      el(
        "article",
        { class: "hit", tabindex: "0", "data-key": hit.chunk, "aria-label": hit.title },
        el(
          "div",
          { class: "row place" },
          el("span", { class: "title" }, hit.title),
          el("span", { class: "spring" }),
          grades(root, state, hit),
        ),
        hit.heading.length ? el("div", { class: "crumb" }, hit.heading.join(" › ")) : null,
        marked(hit),
      ),
    ),
  );
}

function keyboard(event, root, state) {
  const here = event.composedPath()[0];
  const article = here instanceof HTMLElement && here.tagName === "ARTICLE" ? here : null;
  if (!article || event.ctrlKey || event.metaKey || event.altKey) return;
  const lists = [...root.querySelectorAll(".column, .pool")].map((list) => [...list.querySelectorAll("article")]);
  const column = lists.findIndex((list) => list.includes(article));
  const at = lists[column].indexOf(article);
  const go = (list, n) => {
    if (list?.length) {
      const next = list[Math.max(0, Math.min(list.length - 1, n))];
      next.focus();
      next.scrollIntoView({ block: "nearest" });
    }
  };
  if ("0123".includes(event.key)) {
    judge(root, state, article.getAttribute("data-key"), Number(event.key));
    if (state.data.blind) go(lists[column], at + 1);
  } else if (["ArrowDown", "j"].includes(event.key)) go(lists[column], at + 1);
  else if (["ArrowUp", "k"].includes(event.key)) go(lists[column], at - 1);
  else if (event.key === "ArrowRight") go(lists[column + 1], at);
  else if (event.key === "ArrowLeft") go(lists[column - 1], at);
  else if (event.key.toLowerCase() === "w" && article.why) article.why();
  else return;
  event.preventDefault();
}

// ------------------------------------------------------------ gliding

function places(root) {
  const found = new Map();
  root
    .querySelectorAll(".column")
    .forEach((column, n) =>
      column
        .querySelectorAll("article")
        .forEach((node) => found.set(`${n}-${node.getAttribute("data-key")}`, node.offsetTop)),
    );
  return found;
}

// Every place is read before anything moves, so that the browser lays the page out once.
function glide(root, before) {
  const calm = window.matchMedia("(prefers-reduced-motion: reduce)").matches,
    moved = [];
  root.querySelectorAll(".column").forEach((column, n) =>
    column.querySelectorAll("article").forEach((node) => {
      const key = node.getAttribute("data-key");
      if (!calm && before.size) moved.push([node, before.get(`${n}-${key}`), node.offsetTop]);
    }),
  );
  for (const [node, was, now] of moved) {
    if (was === undefined) node.animate([{ opacity: 0 }, { opacity: 1 }], { duration: 220 });
    else if (was !== now)
      node.animate([{ transform: `translateY(${was - now}px)` }, { transform: "none" }], {
        duration: 260,
        easing: "ease-out",
      });
  }
}

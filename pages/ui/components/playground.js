// Configurations side by side, one column each. Column heads stay while knobs move; hits are redrawn and glide to their
// new places.
const GRADES = ["not relevant", "related", "relevant", "answers it"];
const PAUSE = 450; // milliseconds without a turn before the session is told
const TRIES = 6; // draws after which a turn counts as told

export default function ({ data, parentElement, setTriggerValue }) {
  const root = parentElement.querySelector("#root");
  const state = memory(root, () => ({
    sections: [],
    why: new Set(),
    full: new Set(), // passages that are shown whole
    noting: "", // the passage whose note is being written
    sent: 0,
    timer: 0,
    shown: "",
    turns: new Map(), // what was turned and the session has not confirmed, by column and knob
    bar: el("div"),
    content: el("div"),
  }));
  state.send = setTriggerValue;
  if (!state.bar.isConnected) {
    root.replaceChildren(state.bar, state.content);
    root.addEventListener("keydown", (event) => onKey(event, root, state));
  }
  if (isAhead(state, data)) return;
  state.direct = data.direct;
  draw(root, state, data);
}

function draw(root, state, data) {
  state.data = data;
  state.grades = { ...data.grades };
  if (state.shown !== data.query) {
    state.shown = data.query;
    state.why.clear();
    state.full.clear();
    state.noting = "";
  }
  const tops = hitTops(root);
  refocus(root, () => {
    state.bar.replaceChildren(toolbar(state));
    const content = data.blind ? drawPool(root, state) : drawColumns(root, state);
    if (state.content.firstChild !== content) state.content.replaceChildren(content);
  });
  glide(root, tops);
}

// ------------------------------------------------------------ turning knobs

// A turn asks the API and is drawn at once. The session is told when the knob rests, and again until its
// data shows the turn, so that an answer to an older turn never moves a knob back.
function turnKnob(root, state, turn) {
  state.turns.set(`${turn.column}-${turn.knob}`, turn);
  state.tries = 0;
  tellSession(state, state.direct ? PAUSE : 30);
  if (state.direct) throttle(state, () => ask(root, state));
}

function tellSession(state, wait) {
  clearTimeout(state.telling);
  state.telling = setTimeout(() => sendTurns(state, [...state.turns.values()]), wait);
}

const sendTurns = (state, turns) => state.send("turn", { turns, n: Date.now() });

// Send what is pending together with a turn that rebuilds the page.
const sendTurn = (state, turn) => sendTurns(state, [...takeTurns(state), turn]);

function takeTurns(state) {
  const turns = [...state.turns.values()];
  state.turns.clear();
  clearTimeout(state.telling);
  return turns;
}

// Does the page show turns that this data from the session does not know yet?
function isAhead(state, data) {
  if (state.data?.run !== data.run || state.tries++ > TRIES) state.turns.clear();
  for (const [key, { column, knob, value }] of state.turns)
    if (data.setup.columns[column]?.config[knob] === value) state.turns.delete(key);
  if (state.turns.size) tellSession(state, PAUSE);
  else clearTimeout(state.telling);
  return state.turns.size > 0;
}

// At most one request per frame: the first at once, and always the last one.
function throttle(state, act) {
  const wait = 16 - (Date.now() - state.sent);
  const run = () => {
    state.timer = 0;
    state.sent = Date.now();
    act();
  };
  clearTimeout(state.timer);
  if (wait <= 0) run();
  else state.timer = setTimeout(run, wait);
}

async function ask(root, state) {
  state.request?.abort();
  const { signal } = (state.request = new AbortController());
  const { setup, run, looked } = state.data;
  const body = { setup, run, looked, turns: [...state.turns.values()] };
  const { value, error } = await api("page/playground", state.direct, { body, signal });
  if (signal.aborted) return;
  if (error) {
    state.direct = null; // until a run of the page brings another token
    return tellSession(state, 0);
  }
  const columns = value.columns.map((column, n) => mergeColumn(state.data.columns[n], column));
  draw(root, state, { ...state.data, ...value, columns });
}

// An answer leaves out what the page already has: unchanged columns, and the text of passages that only moved.
function mergeColumn(previous, changed) {
  const passages = new Map((previous.hits || []).map((hit) => [hit.chunk, hit]));
  const hits = (changed.hits || previous.hits || []).map((hit) => ({ ...passages.get(hit.chunk), ...hit }));
  return { ...previous, ...changed, choices: previous.choices, hits };
}

// ------------------------------------------------------------ toolbar

function toolbar(state) {
  const { data } = state;
  const copyLink = (event) => {
    state.send("keep", { turns: takeTurns(state), n: Date.now() });
    copy(`${window.location.origin}${window.location.pathname}?link=${data.link}`, event.target);
  };
  const linkTitle = "A short link that shows this playground as it is now";
  const addColumn = () => sendTurn(state, { knob: "add", column: 0 });
  return el(
    "div.row.toolbar",
    data.blind || !data.query ? null : el("div.row.said", el("strong", data.said), keyboardHint()),
    el("span.muted", data.summary),
    el("span.row.legend", data.blind ? null : data.legend.map(legendEntry)),
    el("span.spring"),
    data.columns.length < data.most && !data.blind
      ? button("Add column", addColumn, { kind: "outline", key: "add" })
      : null,
    data.query ? button("Copy link", copyLink, { kind: "outline", key: "link", title: linkTitle }) : null,
  );
}

const legendEntry = ([label, color]) => el("span", el("span.dot", { style: { background: color } }), label);

const keyboardHint = () =>
  el("span.hint", el("kbd", "↑↓←→"), " move ", el("kbd", "0–3"), " judge ", el("kbd", "W"), " why");

// ------------------------------------------------------------ columns

// A head is rebuilt only when its signature changes, so that a slider can be dragged while answers arrive.
const headSignature = (column, profiles) =>
  JSON.stringify([
    column.choices,
    column.profile,
    profiles,
    column.knobs.map((knob) => [knob.knob, knob.min, knob.max]),
  ]);

// A body is rebuilt only when its content changes: turning a knob of one column leaves the others alone.
const bodySignature = (column, { query, grades, notes, around }) =>
  JSON.stringify([column.hits, column.gone, column.warnings, column.error, column.empty, query, grades, notes, around]);

function drawColumns(root, state) {
  const { columns, query } = state.data;
  if (state.sections.length !== columns.length) {
    state.sections = columns.map((_, n) => ({
      node: el("section.column", { "data-key": `column-${n}` }),
      headSignature: "",
    }));
    state.board = el("div", { class: `board n${columns.length}` }, ...state.sections.map((section) => section.node));
  }
  state.board.setAttribute("data-query", query);
  state.board.style.setProperty("--rows", Math.max(1, ...columns.map(({ hits }) => hits?.length || 0)));
  columns.forEach((column, n) => updateSection(root, state, column, n));
  return state.board;
}

function updateSection(root, state, column, n) {
  const section = state.sections[n];
  const head = headSignature(column, state.data.profiles);
  const content = bodySignature(column, state.data);
  const sameHead = section.headSignature === head;
  if (!sameHead || section.bodySignature !== content) {
    const body = columnBody(root, state, column, n);
    if (sameHead) section.body.replaceWith(body);
    else {
      section.head = buildHead(root, state, column, n);
      section.node.style.setProperty("--own", column.color);
      section.node.replaceChildren(section.head.node, body);
    }
    Object.assign(section, { body, headSignature: head, bodySignature: content });
  }
  section.head.update(column, state.data.scores?.[n]);
}

// Returns the head and a function that shows new data in it.
function buildHead(root, state, column, n) {
  const { columns, profiles } = state.data;
  const choose = (knob, label, options, value) =>
    dropdown(
      `${label} of column ${column.letter}`,
      options.map((option) => [option, option]),
      value,
      (chosen) => sendTurn(state, { knob, column: n, value: chosen }),
      knob,
    );
  const preset = choose("preset", "Configuration", column.choices, column.name);
  const knobs = column.knobs.map((knob) => buildKnob(root, state, column, n, knob));
  const about = el("div.about");
  const advice = el("div.advice");
  const status = el("div");
  const adjust = () => state.send("adjust", { column: n, n: Date.now() });
  const remove = () => sendTurn(state, { knob: "remove", column: n });
  const removeTitle = `Remove column ${column.letter}`;
  const node = el(
    "header.head",
    el(
      "div.row.top",
      el("span.letter", column.letter),
      preset,
      el("span.spring"),
      button(columns.length > 3 ? "⚙" : "Adjust", adjust, {
        key: "adjust",
        title: "Every value of this configuration",
      }),
      columns.length > 1 ? button("×", remove, { key: "remove", title: removeTitle }) : null,
    ),
    about,
    advice,
    profiles.length > 1
      ? el("label.knob", el("span", "profile"), choose("profile", "Profile", profiles, column.profile))
      : null,
    knobs.map((knob) => knob.node),
    status,
  );
  const update = (fresh, score) => {
    about.textContent = about.title = fresh.about;
    advice.textContent = fresh.advice;
    nameColumn(preset, fresh.name);
    for (const knob of knobs) knob.update(fresh.knobs.find(({ knob: name }) => name === knob.name).value);
    status.replaceChildren(...columnStatus(fresh, score));
  };
  return { node, update };
}

// The name follows the values while a slider is dragged, so the list of configurations stays and gets one more entry.
function nameColumn(preset, name) {
  if (preset.value === name) return;
  preset.querySelector("[data-key=moved]")?.remove();
  if (![...preset.options].some((option) => option.value === name))
    preset.prepend(el("option", { value: name, "data-key": "moved" }, name));
  preset.value = name;
}

// A slider. For four seconds after a turn it ignores other values: they answer an older turn.
function buildKnob(root, state, column, n, { knob: name, label, min, max, step }) {
  const shown = el("output");
  const range = el("input", {
    type: "range",
    "data-key": name,
    "aria-label": `${label} of column ${column.letter}`,
  });
  Object.assign(range, { min, max, step });
  let turned = null;
  const show = () => {
    shown.textContent = range.value;
    range.style.setProperty("--at", `${(100 * (range.value - range.min)) / (range.max - range.min)}%`);
  };
  range.addEventListener("input", () => {
    show();
    turned = { value: Number(range.value), until: Date.now() + 4000 };
    turnKnob(root, state, { knob: name, column: n, value: turned.value });
  });
  const update = (value) => {
    if (turned && turned.value !== value && Date.now() < turned.until) return;
    turned = null;
    range.value = value;
    show();
  };
  return { name, update, node: el("label.knob", el("span", label), range, shown) };
}

function columnStatus(column, score) {
  if (!column.stages || !column.stages.length) return [];
  return [
    score ? drawScore(score) : null,
    stageTimes(column.stages),
    column.cost ? el("div.note", `Cost $${column.cost.toFixed(4)}`) : null,
    column.note ? el("div.note", column.note) : null,
    ...column.pairs.map(agreement),
  ].filter(Boolean);
}

// What the judgments so far say of the column.
function drawScore({ k, ndcg, precision, judged, unjudged }) {
  const title = `By the judgments so far. Of the first ${k}, ${unjudged} are not judged and count as not relevant.`;
  return el(
    "div.row.live",
    { title, "aria-live": "polite" },
    el("span", `nDCG@${k} `, el("b", ndcg)),
    el("span", `P@${k} `, el("b", precision)),
    el("span.muted", `${judged} judged, ${unjudged} not`),
  );
}

function stageTimes(stages) {
  const total = stages.reduce((sum, stage) => sum + stage.ms, 0) || 1;
  const title = stages.map((stage) => `${stage.label} ${stage.ms.toFixed(1)} ms`).join("\n");
  const bar = (stage) =>
    el("div", { style: { flex: `${Math.max(stage.ms, total / 60)} 0 0`, background: stage.color } });
  return el(
    "div.time",
    { title },
    el("div.stages", stages.map(bar)),
    el("span.ms", total >= 1000 ? `${(total / 1000).toFixed(1)} s` : `${total.toFixed(0)} ms`),
  );
}

// How far this column's ranking agrees with another's.
function agreement(pair) {
  const title = pair.by === "doc" ? "Compared by document: the profiles cut them differently" : "Compared by passage";
  return el(
    "div.row.pair",
    { title },
    el("span.letter.small", { style: { "--own": pair.color } }, pair.with),
    el("span", el("b", `${pair.overlap}/${pair.of}`), el("span.word", " shared")),
    el("span", { title: "Jaccard: shared as a part of all" }, "J ", el("b", pair.jaccard)),
    el("span", { title: "Rank-biased overlap, p = 0.9" }, "RBO ", el("b", pair.rbo)),
    el(
      "span",
      { title: "Pairs in opposite order" },
      el("b", pair.inversions),
      pair.inversions === 1 ? " inversion" : " inversions",
    ),
  );
}

function columnBody(root, state, column, n) {
  if (column.error) return el("div.notice.bad", { role: "alert" }, column.error);
  if (!state.data.query) return el("div.blank.muted", "Run a query to fill this column.");
  return el(
    "div.hits",
    el(
      "div.notices",
      column.warnings.map((text) => el("div.notice.bad", { role: "alert" }, text)),
      column.empty ? nothingFound(column.empty) : null,
    ),
    column.hits.map((hit) => drawHit(root, state, column, hit, n)),
    column.gone.length ? missingHits(column.gone) : null,
  );
}

const nothingFound = (why) =>
  el("div.blank", el("div.glyph", "∅"), el("b", "Nothing found"), el("div.muted.small", why));

// Hits of column A that this column does not have.
const missingHits = (hits) =>
  el(
    "div.gone",
    el("div.muted", `In A, not here: ${hits.length}`),
    hits.map((hit) => el("div", el("span.was", hit.rank), `${hit.title}${hit.heading ? ` › ${hit.heading}` : ""}`)),
  );

// ------------------------------------------------------------ one hit

const MOVES = {
  up: ["▲", "up", "up"],
  down: ["▼", "down", "down"],
  same: ["=", "same", "as in A"],
  new: ["new", "fresh", "not in A"],
};

function drawMove({ kind, steps }) {
  const [sign, tone, words] = MOVES[kind];
  return el(
    "span",
    { class: `move ${tone}`, title: steps ? `${words} ${steps} against A` : words },
    steps ? `${sign} ${steps}` : sign,
  );
}

function drawHit(root, state, column, hit, n) {
  const around = state.data.around[hit.chunk];
  const drawer = el("div");
  const whyButton = buildWhyButton(state, `${n}-${hit.chunk}`, (isOpen) =>
    drawer.replaceChildren(...(isOpen ? [explain(hit)] : []), ...(around ? [drawAround(around)] : [])),
  );
  const href = documentHref(hit.place);
  const lookAround = () => state.send("look", { chunk: hit.chunk, column: n, n: Date.now() });
  const light = () => highlight(root, hit.chunk, true);
  const unlight = () => highlight(root, hit.chunk, false);
  const node = el(
    "article.hit",
    {
      tabindex: "0",
      "data-key": hit.chunk,
      "aria-label": `Rank ${hit.rank}: ${hit.title}`,
      style: { "--rank": hit.rank },
      onmouseenter: light,
      onmouseleave: unlight,
      onfocus: light,
      onblur: unlight,
    },
    el(
      "div.row.place",
      el("span.rank", hit.rank),
      hit.move ? drawMove(hit.move) : null,
      el("span.spring"),
      gradeButtons(root, state, hit),
    ),
    el("div.title", inside({ "data-key": "title" }, href, hit.title)),
    el(
      "div.row.meta",
      hit.heading.length ? el("span.crumb", hit.heading.join(" › ")) : null,
      el("span.badge", { title: `Version ${hit.version} of ${hit.doc}` }, `v${hit.version}`),
      hit.badges.map(badge),
    ),
    passageText(state, hit),
    alsoIn(hit.also),
    noteLine(state, hit.chunk),
    scoreBar(hit, column),
    el(
      "div.row.actions",
      whyButton,
      button(around ? "Less" : "Around it", lookAround, { key: "around", title: "Neighbours and parent" }),
      inside({ class: "button", "data-key": "open" }, href, "Open"),
    ),
    drawer,
  );
  node.why = () => whyButton.click();
  return node;
}

// A passage as its best part, or whole: a judge must not grade a cut.
function passageText(state, hit) {
  if (!hit.full) return snippet(hit);
  const block = el("div.passage");
  const show = () => {
    const whole = state.full.has(hit.chunk);
    const toggle = () => {
      whole ? state.full.delete(hit.chunk) : state.full.add(hit.chunk);
      show();
      block.querySelector("button").focus();
    };
    const text = whole ? snippet({ segments: hit.full, cut: [false, false] }) : snippet(hit);
    const label = whole ? "Show less" : "Show the whole passage";
    block.classList.toggle("whole", whole);
    block.replaceChildren(text, button(label, toggle, { key: "whole" }));
  };
  show();
  return block;
}

function buildWhyButton(state, id, fill) {
  const show = () => {
    whyButton.setAttribute("aria-expanded", state.why.has(id));
    fill(state.why.has(id));
  };
  const toggle = () => {
    state.why.has(id) ? state.why.delete(id) : state.why.add(id);
    show();
  };
  const whyButton = button("Why", toggle, { key: "why" });
  show();
  return whyButton;
}

// What each leg gave, beside the best score of the column.
function scoreBar(hit, column) {
  const score = ({ legs }) => legs.reduce((sum, leg) => sum + leg.part, 0);
  const best = Math.max(...column.hits.map(score)) || 1;
  return el(
    "div.score",
    { title: hit.legs.map((leg) => `${leg.label}: ${leg.gave}`).join("\n") },
    hit.legs.map((leg) => el("div", { style: { width: `${(100 * leg.part) / best}%`, background: leg.color } })),
  );
}

function explain(hit) {
  return el(
    "div.why",
    hit.legs.map((leg) =>
      el(
        "div.leg",
        el(
          "div.row",
          el("span.dot", { style: { background: leg.color } }),
          el("b", leg.label),
          el("span.spring"),
          el("span", `${leg.arithmetic} = ${leg.gave}`),
        ),
        el("div.row.muted.facts", el("span", `rank ${leg.rank}`), el("span", `raw ${leg.raw}`)),
        leg.note ? el("div.row.muted.facts", el("span", leg.note)) : null,
      ),
    ),
    hit.words?.rows.length ? drawWords(hit.words) : null,
    el("div.sum", hit.sentence),
  );
}

// BM25 word by word.
const drawWords = ({ length, rows }) =>
  el(
    "table.small",
    { "aria-label": `BM25 word by word, in a passage of ${length} terms` },
    el("tr", ...["Word", `tf of ${length}`, "idf", "BM25"].map((head) => el("th", { scope: "col" }, head))),
    ...rows.map((row) => el("tr", ...row.map((cell) => el("td", cell)))),
  );

const drawAround = ({ before, after, parent }) =>
  el(
    "div.around",
    ...[
      ["Before", before],
      ["After", after],
      ["Parent", parent],
    ]
      .filter(([, text]) => text)
      .map(([label, text]) => [el("div.label", label), el("div.words", text)]),
  );

// The same passage in every column.
function highlight(root, chunk, on) {
  for (const node of root.querySelectorAll("article"))
    node.classList.toggle("same", on && node.getAttribute("data-key") === chunk);
}

// ------------------------------------------------------------ judging

function gradeButtons(root, state, { chunk }) {
  const gradeButton = (meaning, grade) =>
    el(
      "button",
      {
        class: `grade g${grade}`,
        "data-key": `grade ${grade}`,
        title: `${grade}: ${meaning}${state.grades[chunk] === grade ? ". Click again to take it back" : ""}`,
        "aria-label": `Grade ${grade}: ${meaning}`,
        "aria-pressed": state.grades[chunk] === grade ? "true" : "false",
        onclick: (event) => {
          event.stopPropagation();
          judge(root, state, chunk, state.grades[chunk] === grade ? null : grade);
        },
      },
      grade,
    );
  return el("span.grades", { role: "group", "aria-label": "How relevant" }, GRADES.map(gradeButton));
}

function judge(root, state, chunk, grade) {
  if (grade === null) for (const known of [state.grades, state.data.grades, state.data.notes]) delete known[chunk];
  else state.grades[chunk] = state.data.grades[chunk] = grade;
  const hits = [...root.querySelectorAll("article")].filter((node) => node.getAttribute("data-key") === chunk);
  for (const hit of hits)
    hit.querySelectorAll(".grade").forEach((gradeButton, n) => {
      gradeButton.setAttribute("aria-pressed", n === grade ? "true" : "false");
    });
  state.send("judge", { chunk, grade, n: Date.now() });
}

// Why somebody graded a passage as they did; offered as soon as there is a grade.
function noteLine(state, chunk) {
  const line = el("div.noted");
  const show = () => {
    const note = state.data.notes?.[chunk] || "";
    if (state.grades[chunk] === undefined) return line.replaceChildren();
    if (state.noting !== chunk)
      return line.replaceChildren(
        note ? el("span.words", note) : "",
        button(note ? "Edit the note" : "Add a note", open, { key: "note" }),
      );
    line.replaceChildren(noteForm(note, save));
    line.querySelector("input").focus();
  };
  const open = () => {
    state.noting = chunk;
    show();
  };
  const save = (text) => {
    state.noting = "";
    state.data.notes = { ...state.data.notes, [chunk]: text };
    state.send("judge", { chunk, grade: state.grades[chunk], note: text, n: Date.now() });
    show();
  };
  show();
  return line;
}

function noteForm(note, save) {
  const input = el("input", {
    type: "text",
    value: note,
    "aria-label": "Why this grade",
    placeholder: "Why this grade",
    "data-key": "note text",
    onkeydown: (event) => event.key === "Enter" && save(input.value.trim()),
  });
  return el(
    "span.row",
    input,
    button("Keep", () => save(input.value.trim()), { key: "keep" }),
  );
}

// While judging blind, the columns only show their scores.
function poolScores(state) {
  const scores = state.data.scores || [];
  if (!scores.some(Boolean)) return null;
  return el(
    "div.livescores",
    state.data.columns.map((column, n) =>
      scores[n]
        ? el(
            "div.row",
            { style: { "--own": column.color } },
            el("span.letter.small", column.letter),
            el("b", column.name),
            drawScore(scores[n]),
          )
        : null,
    ),
  );
}

// Blind judging: the passages of all columns, shuffled, without ranks.
function drawPool(root, state) {
  const { pool } = state.data;
  const done = pool.filter((hit) => state.grades[hit.chunk] !== undefined).length;
  return el(
    "div.pool",
    el(
      "p.muted",
      `${pool.length} passages, shuffled, without ranks. Grade each: ${GRADES.map((meaning, n) => `${n} ${meaning}`).join(", ")}. ${done} done. Below the list you can add what is missing.`,
    ),
    done === pool.length ? poolScores(state) : null, // earlier they would tell who found what
    pool.map((hit) =>
      el(
        "article.hit",
        { tabindex: "0", "data-key": hit.chunk, "aria-label": hit.title },
        el("div.row.place", el("span.title", hit.title), el("span.spring"), gradeButtons(root, state, hit)),
        hit.heading.length ? el("div.crumb", hit.heading.join(" › ")) : null,
        passageText(state, hit),
        noteLine(state, hit.chunk),
      ),
    ),
  );
}

function onKey(event, root, state) {
  const target = event.composedPath()[0];
  const article = target instanceof HTMLElement && target.tagName === "ARTICLE" ? target : null;
  if (!article || event.ctrlKey || event.metaKey || event.altKey) return;
  const columns = [...root.querySelectorAll(".column, .pool")].map((list) => [...list.querySelectorAll("article")]);
  const column = columns.findIndex((articles) => articles.includes(article));
  const row = columns[column].indexOf(article);
  if ("0123".includes(event.key)) {
    judge(root, state, article.getAttribute("data-key"), Number(event.key));
    if (state.data.blind) focusHit(columns[column], row + 1);
  } else if (["ArrowDown", "j"].includes(event.key)) focusHit(columns[column], row + 1);
  else if (["ArrowUp", "k"].includes(event.key)) focusHit(columns[column], row - 1);
  else if (event.key === "ArrowRight") focusHit(columns[column + 1], row);
  else if (event.key === "ArrowLeft") focusHit(columns[column - 1], row);
  else if (event.key.toLowerCase() === "w" && article.why) article.why();
  else return;
  event.preventDefault();
}

function focusHit(articles, row) {
  if (!articles?.length) return;
  const hit = articles[Math.max(0, Math.min(articles.length - 1, row))];
  hit.focus();
  hit.scrollIntoView({ block: "nearest" });
}

// ------------------------------------------------------------ gliding

// Every hit with a name of its own: [column and passage, element].
const namedHits = (root) =>
  [...root.querySelectorAll(".column")].flatMap((column, n) =>
    [...column.querySelectorAll("article")].map((node) => [`${n}-${node.getAttribute("data-key")}`, node]),
  );

const hitTops = (root) => new Map(namedHits(root).map(([name, node]) => [name, node.offsetTop]));

// Every place is read before anything moves, so that the browser lays the page out once.
function glide(root, before) {
  const still = window.matchMedia("(prefers-reduced-motion: reduce)").matches;
  if (still || !before.size) return;
  const moves = namedHits(root).map(([name, node]) => [node, before.get(name), node.offsetTop]);
  for (const [node, from, to] of moves) {
    if (from === undefined) node.animate([{ opacity: 0 }, { opacity: 1 }], { duration: 220 });
    else if (from !== to)
      node.animate([{ transform: `translateY(${from - to}px)` }, { transform: "none" }], {
        duration: 260,
        easing: "ease-out",
      });
  }
}

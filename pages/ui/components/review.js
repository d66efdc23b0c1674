// The documents of a change: side by side, inline or rendered; unchanged parts folded, conversations under their lines.
const CONTEXT = 3; // unchanged lines shown around a change
const SHORTEST_FOLD = 4; // fewer lines are not worth a fold
const VIEWS = [
  ["split", "Side by side"],
  ["inline", "Inline"],
  ["rendered", "Rendered"],
];

export default function ({ data, parentElement, setTriggerValue }) {
  const root = parentElement.querySelector("#root");
  const state = memory(root, () => ({
    view: window.innerWidth > 900 ? "split" : "inline",
    unfolded: new Set(), // resolved conversations that somebody opened
    closed: new Set(), // documents that somebody folded
    open: new Set(), // unchanged parts that somebody opened
    typed: {},
    sent: {},
    replying: 0,
    writing: null,
  }));
  const act = (action) => setTriggerValue("act", { ...action, head: data.head });
  state.people = data.people;
  hear(state, data.heard);

  const viewButton = ([view, label]) => {
    const choose = () => {
      state.view = view;
      draw();
    };
    return button(label, choose, { key: view, pressed: state.view === view ? "true" : "false" });
  };
  const draw = () =>
    refocus(root, () =>
      root.replaceChildren(
        el(
          "div",
          { class: "tools" },
          el("span", { class: "muted small" }, data.summary),
          el("span", { class: "spring" }),
          VIEWS.map(viewButton),
        ),
        data.documents.length > 1 ? documentLinks(root, data.documents) : "",
        ...data.documents.map((file, n) => drawFile({ root, state, file, n, may: data.may, act })),
      ),
    );
  draw();
}

function documentLinks(root, documents) {
  const scrollTo = (n) => root.querySelector(`#d${n}`)?.scrollIntoView({ behavior: "smooth", block: "start" });
  return el(
    "nav",
    { class: "files", "aria-label": "Documents" },
    documents.map((file, n) =>
      actionLink(
        {},
        `#d${n}`,
        () => scrollTo(n),
        el("span", { class: `sign ${file.kind}` }, file.sign),
        file.name,
        file.threads.length ? el("span", { class: "muted small" }, ` · ${file.threads.length}`) : null,
      ),
    ),
  );
}

// ------------------------------------------------------------ one document

// `context` is what every part of a document needs: { root, state, file, n, may, act }.
function drawFile(context) {
  const { root, state, file, n, may, act } = context;
  const redraw = () => refocus(root, () => section.replaceWith(drawFile(context)));
  const write = (line, last) => {
    state.writing = { path: file.path, line, last };
    redraw();
    root.querySelector(`#d${n} .composer textarea`)?.focus();
  };
  const tools = {
    redraw,
    write,
    drawThread: (thread) => conversation(state, thread, may, act),
    writer: () => el("div", { class: "conversation" }, writer(context, redraw)),
  };
  const closed = state.closed.has(file.path);
  const section = el(
    "section",
    { class: "file", id: `d${n}`, "data-key": file.path },
    fileHead(context, closed, tools),
    closed ? null : fileBody(context, tools),
  );
  return section;
}

function fileHead({ state, file, may, act }, closed, { redraw, write }) {
  const toggle = () => {
    closed ? state.closed.delete(file.path) : state.closed.add(file.path);
    redraw();
  };
  const editable = may.edit && file.kind !== "deleted" && !isPicture(file);
  return el(
    "header",
    { class: "filehead" },
    el(
      "button",
      {
        type: "button",
        class: "fold",
        "data-key": "fold",
        "aria-expanded": closed ? "false" : "true",
        "aria-label": closed ? "Unfold" : "Fold",
        onclick: toggle,
      },
      closed ? "▸" : "▾",
    ),
    el(
      "span",
      { class: "name" },
      el("strong", {}, file.title),
      el("span", { class: "muted small path" }, file.was ? `${file.was} → ${file.path}` : file.path),
    ),
    badge({ text: file.word, tone: file.tone }),
    !isPicture(file) &&
      el(
        "span",
        { class: "count" },
        el("span", { class: "up" }, `+${file.added}`),
        " ",
        el("span", { class: "down" }, `−${file.removed}`),
      ),
    may.comment ? button("Comment", () => write(0, 0), { title: "Comment on this document as a whole" }) : null,
    editable ? button("Edit", () => act({ do: "edit", path: file.path }), { kind: "outline" }) : null,
  );
}

function fileBody(context, tools) {
  const { state, file } = context;
  const writing = writingIn(state, file);
  return [
    file.problem ? el("div", { class: "problem" }, file.problem) : null,
    file.checks.length ? el("div", { class: "checks", "aria-label": "Checks" }, file.checks.map(checkRow)) : null,
    file.fields.length ? fieldTable(file.fields) : null,
    file.threads.filter((thread) => !thread.line).map(tools.drawThread),
    writing && !writing.line ? tools.writer() : null,
    isPicture(file)
      ? pictureSides(file)
      : state.view === "rendered"
        ? renderedBlocks(state, file, tools.redraw)
        : lineTable(context, writing, tools),
  ];
}

const fieldTable = (fields) =>
  el(
    "table",
    { class: "fields" },
    el(
      "tr",
      {},
      ["Field", "Before", "After"].map((text) => el("th", {}, text)),
    ),
    fields.map((field) =>
      el(
        "tr",
        {},
        el("td", { class: "fname" }, field.name),
        el("td", { class: field.before ? "minus" : "" }, field.before || "–"),
        el("td", { class: field.after ? "plus" : "" }, field.after || "–"),
      ),
    ),
  );

// ------------------------------------------------------------ a new comment

// Where somebody writes in this document, or null. Line 0 stands for the document as a whole.
const writingIn = (state, file) => (state.writing?.path === file.path ? state.writing : null);

function writer({ state, file, act }, redraw) {
  const { line, last } = state.writing;
  const lineText = (row) => row.after.map(([, text]) => text).join("");
  const quote = () =>
    file.rows
      .filter((row) => row.right >= line && row.right <= last)
      .map(lineText)
      .join("\n");
  return composer(state, lineBox(state.writing), {
    hint: writerHint(line, last),
    quote: line ? quote : null,
    send: (body, n) => act({ do: "comment", path: file.path, line, last, body, n }),
    cancel: () => {
      state.writing = null;
      redraw();
    },
  });
}

function writerHint(line, last) {
  if (!line) return "Comment on this document";
  return last > line ? `Comment on lines ${line} to ${last}` : `Comment on line ${line}`;
}

// ------------------------------------------------------------ lines

// Fold runs of unchanged rows, except around lines with a conversation and in runs that somebody opened.
function foldRows(state, file) {
  const busy = file.threads.filter((thread) => thread.line).map((thread) => thread.last);
  const writing = writingIn(state, file);
  if (writing) busy.push(writing.last);
  const folded = [];
  for (let start = 0; start < file.rows.length;) {
    if (file.rows[start].kind !== "equal") {
      folded.push(file.rows[start++]);
      continue;
    }
    let end = start;
    while (end < file.rows.length && file.rows[end].kind === "equal") end++;
    folded.push(...foldRun(state, file, start, end, busy));
    start = end;
  }
  return folded;
}

// Rows start to end are unchanged: keep the context at both sides and the lines that are talked about.
function foldRun(state, file, start, end, busy) {
  const { rows } = file;
  const name = `${file.path}:${start}`;
  const from = start === 0 ? start : Math.min(end, start + CONTEXT);
  const to = end === rows.length ? end : Math.max(from, end - CONTEXT);
  if (to - from < SHORTEST_FOLD || state.open.has(name)) return rows.slice(start, end);
  const folded = rows.slice(start, from);
  for (const row of rows.slice(from, to)) {
    const gap = folded.at(-1)?.kind === "gap" ? folded.at(-1) : null;
    if (busy.some((line) => Math.abs(line - row.right) <= 1)) folded.push(row);
    else if (gap) gap.count++;
    else folded.push({ kind: "gap", count: 1, name });
  }
  return [...folded, ...rows.slice(to, end)];
}

function lineTable({ state, file, may }, writing, { redraw, drawThread, write, writer }) {
  const split = state.view === "split" && file.kind !== "added" && file.kind !== "deleted";
  const hasChanges = file.rows.some((row) => row.kind !== "equal" && row.kind !== "gap");
  if (!hasChanges && !file.threads.length && !writing) return el("div", { class: "same" }, whyNoLines(file));

  const lineNumber = (number, isNew) => {
    if (!isNew || !number || !may.comment) return el("td", { class: "no" }, number || "");
    const chosen = writing && writing.line && number >= writing.line && number <= writing.last;
    return numberButton(number, chosen, (event) => write(...chosenLines(event, number, writing)));
  };
  const openGap = (name) => {
    state.open.add(name);
    redraw();
  };
  const talk = (row) => {
    const threads = file.threads.filter(({ line, last }) => line && row.right && last === row.right);
    const isWriting = writing && writing.line && row.right === writing.last;
    if (!threads.length && !isWriting) return null;
    const cell = el("td", { colspan: columnSpan(split) }, threads.map(drawThread), isWriting ? writer() : null);
    return el("tr", { class: "talk" }, cell);
  };
  const rows = foldRows(state, file).map((row) =>
    row.kind === "gap" ? gapRow(row, split, openGap) : [diffRows(row, split, lineNumber), talk(row)],
  );
  return el("table", { class: "lines" }, columnWidths(split), rows);
}

function whyNoLines({ fields, kind }) {
  if (fields.length) return "The text itself did not change.";
  return kind === "renamed" ? "Only the path changed." : "Nothing changed.";
}

// Shift extends the lines chosen so far.
function chosenLines(event, line, writing) {
  if (!writing || !event.shiftKey) return [line, line];
  return [Math.min(writing.line || line, line), Math.max(writing.last, line)];
}

const numberButton = (number, chosen, onclick) =>
  el(
    "td",
    { class: `no can${chosen ? " chosen" : ""}` },
    el(
      "button",
      {
        type: "button",
        title: "Comment on this line; with Shift, on several",
        "aria-label": `Comment on line ${number}`,
        onclick,
      },
      number,
    ),
  );

function gapRow({ count, name }, split, open) {
  const text = unchangedLines(count);
  const content = name ? el("button", { type: "button", onclick: () => open(name) }, `↕ ${text}`) : text;
  return el("tr", { class: "gap" }, el("td", { colspan: columnSpan(split) }, content));
}

// ------------------------------------------------------------ rendered

// Changed blocks and their neighbours; the others are folded until somebody opens them.
function renderedBlocks(state, file, redraw) {
  const blocks = file.rendered;
  if (!blocks.length) return el("div", { class: "same" }, "This file cannot be rendered.");
  const name = `${file.path}:r`;
  const open = () => {
    state.open.add(name);
    redraw();
  };
  const isChanged = (n) => blocks[n] !== undefined && blocks[n][0] !== "equal";
  const isShown = (n) => state.open.has(name) || [n - 1, n, n + 1].some(isChanged);
  const drawn = [];
  let hidden = 0;
  const flushGap = () => {
    if (hidden) drawn.push(blockGap(hidden, open));
    hidden = 0;
  };
  blocks.forEach(([kind, node], n) => {
    if (!isShown(n)) return hidden++;
    flushGap();
    drawn.push(el("div", { class: `rblock ${kind}` }, prose([node])));
  });
  flushGap();
  return el("div", { class: "rendered" }, drawn);
}

// A file that is a picture: both versions side by side, or the only one.
const isPicture = ({ rendered }) => (rendered || []).some(([, node]) => node[0] === "img");
const PICTURE_SIDES = { removed: "Before", added: "After", equal: "The same picture, moved" };

function pictureSides({ rendered, kind }) {
  const label = (side) => ({ added: "New picture", deleted: "Removed picture" })[kind] || PICTURE_SIDES[side];
  return el(
    "div",
    { class: "picturesides" },
    rendered.map(([side, node]) =>
      el("figure", { class: `rblock ${side}` }, el("figcaption", {}, label(side)), prose([node])),
    ),
  );
}

const blockGap = (count, onclick) =>
  el(
    "div",
    { class: "gapline" },
    el("button", { type: "button", onclick }, `↕ ${count} unchanged block${count === 1 ? "" : "s"}`),
  );

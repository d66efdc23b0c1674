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
  const many = data.documents.length > 1;
  const state = memory(root, () => ({
    ...talkState(),
    view: root.clientWidth > (many ? 1000 : 760) ? "split" : "inline",
    folded: new Map(), // documents that somebody folded or unfolded; a viewed one is folded by itself
    open: new Set(), // unchanged parts that somebody opened
    busy: new Map(), // lines that a jump led to, by document
    writing: null,
    filter: "",
    tree: root.clientWidth > 700,
    point: -1, // the last open point that was jumped to
    goal: null, // a place whose document is on its way
    wanted: new Set(), // documents that were asked for
  }));
  const act = (action) => setTriggerValue("act", { ...action, head: data.head });
  state.people = data.people;
  hear(state, data.heard);
  const page = { root, state, data, act, draw: () => refocus(root, () => drawPage(page)) };
  page.draw();
  if (state.goal && reach(page, state.goal)) state.goal = null;
  followLinks(state, data.at, (at) => jump(page, placeOf(data.documents, at)));
}

function drawPage(page) {
  const { root, state, data } = page;
  const many = data.documents.length > 1;
  const shown = data.documents.filter((file) => isShown(state, file));
  const files = el(
    "div.documents",
    shown.map((file) => drawFile({ ...page, file, n: data.documents.indexOf(file), may: data.may })),
  );
  const filter = (text) => {
    state.filter = text;
    page.draw();
  };
  const tree = many ? documentTree(state, data.documents, { filter, goTo: (file) => jump(page, { file }) }) : "";
  const wide = many && root.clientWidth > 700;
  root.replaceChildren(tools(page), el("div", { class: `layout${wide ? " wide" : ""}` }, tree, files));
  loadOnSight(page);
}

function tools(page) {
  const { state, data, draw } = page;
  const points = openPoints(data.documents);
  const closed = data.documents.every((file) => isFolded(state, file));
  const foldAll = () => {
    data.documents.forEach((file) => state.folded.set(file.path, !closed));
    draw();
  };
  const next = () => {
    state.point = (state.point + 1) % points.length;
    jump(page, points[state.point]);
  };
  const viewButton = ([view, label]) => {
    const choose = () => {
      state.view = view;
      draw();
    };
    return button(label, choose, { key: view, pressed: state.view === view ? "true" : "false" });
  };
  const many = data.documents.length > 1;
  return el(
    "div.row.tools",
    points.length
      ? button(`Next open point (${points.length})`, next, {
          kind: "outline",
          key: "next",
          title: "Go to the next finding or open conversation",
        })
      : null,
    many ? button(closed ? "Unfold all" : "Fold all", foldAll, { key: "fold all" }) : null,
    el("span.spring"),
    VIEWS.map(viewButton),
  );
}

const isFolded = (state, file) => state.folded.get(file.path) ?? file.viewed;

// ------------------------------------------------------------ going to a place

// What a check found and what is still talked about, document by document and line by line.
const openPoints = (documents) =>
  documents.flatMap((file) => {
    const found = [...file.checks, ...file.differs.filter(isOpen)].map(({ line }) => ({ file, line }));
    const talks = file.threads.filter((thread) => !thread.resolved).map(({ id, line }) => ({ file, line, thread: id }));
    return [...found, ...talks].sort((a, b) => a.line - b.line);
  });

const isOpen = ({ state }) => state === "open";

// A link names a conversation (c7) or a line of a document (l12:path).
function placeOf(documents, at) {
  const [, line, path] = at.match(/^l(\d+):(.*)$/) || [];
  if (path) return { file: documents.find((file) => file.path === path), line: Number(line) };
  const thread = Number(at.slice(1));
  return { file: documents.find((file) => file.threads.some(({ id }) => id === thread)), thread };
}

// Open the document and whatever hides the place, load its text if need be, and scroll there.
function jump(page, place) {
  const { state } = page;
  if (!place.file) return false;
  state.folded.set(place.file.path, false);
  state.filter = isShown(state, place.file) ? state.filter : "";
  if (place.thread) state.unfolded.add(place.thread);
  if (place.line) {
    if (state.view === "rendered") state.view = "inline";
    state.busy.set(place.file.path, [...(state.busy.get(place.file.path) || []), place.line]);
  }
  if (place.file.rows) {
    page.draw();
    return reach(page, place);
  }
  state.goal = { ...place, path: place.file.path };
  request(page, [place.file.path]);
  return true;
}

// Scroll to a place whose document is drawn.
function reach({ root, data }, { file, path, line, thread }) {
  const n = data.documents.findIndex((one) => one.path === (path || file.path));
  if (n < 0 || !data.documents[n].rows) return false;
  if (thread && show(root, `c${thread}`)) return true;
  if (line && (show(root, `d${n}l${line}`) || show(root, `d${n}checks`))) return true;
  return show(root, `d${n}`);
}

// ------------------------------------------------------------ text that comes when it is needed

function request({ state, act }, paths) {
  const missing = paths.filter((path) => !state.wanted.has(path));
  missing.forEach((path) => state.wanted.add(path));
  if (missing.length) act({ do: "load", paths: missing });
}

// Ask for the text of documents that come near the screen, together after a short while.
function loadOnSight(page) {
  const { root, state, data } = page;
  state.sight?.disconnect();
  const waiting = [...root.querySelectorAll(".file.waiting")];
  if (!waiting.length) return;
  const near = new Set();
  let timer = 0;
  state.sight = new IntersectionObserver(
    (entries) => {
      for (const { isIntersecting, target } of entries) if (isIntersecting) near.add(target.getAttribute("data-key"));
      clearTimeout(timer);
      timer = setTimeout(() => near.size && request(page, [...near]), 120);
    },
    { rootMargin: "800px" },
  );
  const known = new Set(data.documents.filter((file) => file.rows).map((file) => file.path));
  state.wanted.forEach((path) => known.has(path) && state.wanted.delete(path));
  waiting.forEach((section) => state.sight.observe(section));
}

// ------------------------------------------------------------ one document

// `context` is what every part of a document needs: { root, state, file, n, may, act }.
function drawFile(context) {
  const { root, state, file, n, may, act } = context;
  const redraw = () => refocus(root, () => section.replaceWith(drawFile(context)));
  const write = (line, last, removed = false) => {
    state.writing = { path: file.path, line, last, removed };
    state.folded.set(file.path, false);
    redraw();
    root.querySelector(`#d${n} .composer textarea`)?.focus();
  };
  const tools = {
    redraw,
    write,
    drawThread: (thread) => conversation(state, thread, may, act),
    writer: () => el("div.conversation", writer(context, redraw)),
  };
  const closed = isFolded(state, file);
  const section = el(
    "section",
    { class: `file${closed ? " closed" : file.rows ? "" : " waiting"}`, id: `d${n}`, "data-key": file.path },
    fileHead(context, closed, tools),
    closed ? null : file.rows ? fileBody(context, tools) : el("div.same", "Loading"),
  );
  return section;
}

function fileHead({ state, file, may, act, draw }, closed, { write }) {
  const toggle = () => {
    state.folded.set(file.path, !closed);
    draw();
  };
  const view = () => {
    state.folded.delete(file.path);
    act({ do: "viewed", path: file.path, on: !file.viewed });
  };
  const editable = may.edit && file.kind !== "deleted" && !isPicture(file);
  return el(
    "header.row.filehead",
    el(
      "button.fold",
      {
        "data-key": "fold",
        "aria-expanded": closed ? "false" : "true",
        "aria-label": `${closed ? "Unfold" : "Fold"} ${file.title}`,
        onclick: toggle,
      },
      closed ? "▸" : "▾",
    ),
    el(
      "span.name",
      el("strong", file.title),
      el("span.muted.small.path", file.was ? `${file.was} → ${file.path}` : file.path),
    ),
    badge({ text: file.word, tone: file.tone }),
    file.badges.map(badge),
    file.differs.some(isOpen) ? badge({ text: `${file.differs.filter(isOpen).length} disagree`, tone: "warn" }) : null,
    !isPicture(file) && el("span.count", el("span.up", `+${file.added}`), " ", el("span.down", `−${file.removed}`)),
    may.comment
      ? button("Comment", () => write(0, 0), { title: "Comment on this document as a whole", key: "comment" })
      : null,
    editable ? button("Edit", () => act({ do: "edit", path: file.path }), { kind: "outline", key: "edit" }) : null,
    viewedBox(file, view),
  );
}

// Each person's own mark, until the text changes.
function viewedBox(file, onchange) {
  const box = el("input", { type: "checkbox", "data-key": "viewed", onchange });
  box.checked = file.viewed;
  return el("label.viewed", { title: "Your own mark; it goes when the text changes" }, box, " Viewed");
}

function fileBody(context, tools) {
  const { state, file, n } = context;
  const writing = writingIn(state, file);
  const goTo = (line) => jump(context, { file, line });
  return [
    file.problem ? el("div.problem", file.problem) : null,
    file.checks.length || file.differs.length
      ? el(
          "div.checks",
          { id: `d${n}checks`, "aria-label": "Checks", role: "group" },
          file.checks.map((check) => checkLine(check, goTo)),
          file.differs.map((found) =>
            checkLine(
              { line: found.line, severity: isOpen(found) ? "differs" : "settled", message: found.sentence },
              goTo,
            ),
          ),
        )
      : null,
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

// What a check found, with the way to its line.
const checkLine = ({ line, severity, message }, goTo) =>
  el(
    "div",
    severityBadge(severity),
    actionLink({}, `#line-${line}`, () => goTo(line), `Line ${line}`),
    el("span", message),
  );

const fieldTable = (fields) =>
  el(
    "table.fields",
    el("tr", ...["Field", "Before", "After"].map((text) => el("th", text))),
    fields.map((field) =>
      el(
        "tr",
        el("td.fname", field.name),
        el("td", { class: field.before ? "minus" : "" }, field.before || "–"),
        el("td", { class: field.after ? "plus" : "" }, field.after || "–"),
      ),
    ),
  );

// ------------------------------------------------------------ a new comment

// Where somebody writes in this document, or null. Line 0 stands for the document as a whole.
const writingIn = (state, file) => (state.writing?.path === file.path ? state.writing : null);

function writer({ state, file, may, act }, redraw) {
  const { line, last, removed } = state.writing;
  const lineText = (row) => row.after.map(([, text]) => text).join("");
  const quote = () =>
    file.rows
      .filter((row) => row.right >= line && row.right <= last)
      .map(lineText)
      .join("\n");
  return composer(state, lineBox(state.writing), {
    hint: writerHint(state.writing),
    quote: line && !removed ? quote : null,
    counting: may.counting,
    send: (body, n) => act({ do: "comment", path: file.path, line, last, removed, body, n }),
    cancel: () => {
      state.writing = null;
      redraw();
    },
  });
}

function writerHint({ line, last, removed }) {
  if (!line) return "Comment on this document";
  const which = removed ? "removed line" : "line";
  return last > line ? `Comment on ${which}s ${line} to ${last}` : `Comment on ${which} ${line}`;
}

// On which side of the diff the lines of a conversation or of a new comment are.
const sideOf = ({ removed }) => (removed ? "left" : "right");

// ------------------------------------------------------------ lines

// Fold runs of unchanged rows, except around lines with a conversation and in runs that somebody opened.
function foldRows(state, file) {
  const writing = writingIn(state, file);
  const talks = [...file.threads.filter((thread) => thread.line), ...(writing ? [writing] : [])];
  const others = [...file.differs.map(({ line }) => line), ...(state.busy.get(file.path) || [])];
  const busy = [...talks.map((talk) => [sideOf(talk), talk.last]), ...others.map((line) => ["right", line])];
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
    if (busy.some(([side, line]) => Math.abs(line - row[side]) <= 1)) folded.push(row);
    else if (gap) gap.count++;
    else folded.push({ kind: "gap", count: 1, name });
  }
  return [...folded, ...rows.slice(to, end)];
}

function lineTable({ state, data, file, n, may, act }, writing, { redraw, drawThread, write, writer }) {
  const split = state.view === "split" && file.kind !== "added" && file.kind !== "deleted";
  const hasChanges = file.rows.some((row) => row.kind !== "equal" && row.kind !== "gap");
  if (!hasChanges && !file.threads.length && !writing) return el("div.same", whyNoLines(file));

  const lineNumber = (number, side) => {
    const open = side === "right" || (side === "left" && data.whole);
    if (!open || !number || !may.comment) return el("td.no", number || "");
    const same = writing?.line && sideOf(writing) === side ? writing : null;
    const chosen = same && number >= same.line && number <= same.last;
    const removed = side === "left";
    return numberButton(number, removed, chosen, (event) => write(...chosenLines(event, number, same), removed));
  };
  const openGap = (name) => {
    state.open.add(name);
    redraw();
  };
  const named = (rows, { right }) => {
    if (right) rows.at(-1).id = `d${n}l${right}`;
    return rows;
  };
  const talk = (row) => {
    const isHere = (talk) => talk.line && talk.last === row[sideOf(talk)];
    const threads = file.threads.filter(isHere);
    const isWriting = writing && isHere(writing);
    const differs = file.differs.filter(({ line }) => row.right && line === row.right);
    if (!threads.length && !isWriting && !differs.length) return null;
    const cell = el(
      "td",
      { colspan: columnSpan(split) },
      differs.map((found) => difference(found, may, act)),
      threads.map(drawThread),
      isWriting ? writer() : null,
    );
    return el("tr.talk", cell);
  };
  const rows = foldRows(state, file).map((row) =>
    row.kind === "gap" ? gapRow(row, split, openGap) : [named(diffRows(row, split, lineNumber), row), talk(row)],
  );
  return el("table.code.lines", columnWidths(split), rows);
}

// What another document says otherwise than this line.
function difference(found, may, act) {
  const { theirs, key } = found;
  const settle = () => act({ do: "settle", key });
  return el(
    "div",
    { class: `difference ${found.state}`, role: "note" },
    el(
      "div.row.say",
      severityBadge(isOpen(found) ? "differs" : "settled"),
      el("span", found.state === "settled" ? `Both are right: ${found.reason} (${found.by})` : found.sentence),
      may.settle && isOpen(found)
        ? button("Both are right", settle, { kind: "outline", key: `settle ${key}`, title: "Settle it with a reason" })
        : null,
    ),
    el(
      "blockquote",
      theirs.marks.map(([differs, text]) => (differs ? el("mark", text) : text)),
      el(
        "div.muted.small",
        inside({}, documentHref({ doc: theirs.doc }), theirs.title),
        ` · ${theirs.owner} · ${theirs.place}`,
      ),
    ),
  );
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

const numberButton = (number, removed, chosen, onclick) =>
  el(
    "td",
    { class: `no can${chosen ? " chosen" : ""}` },
    el(
      "button",
      {
        title: "Comment on this line; with Shift, on several",
        "aria-label": `Comment on ${removed ? "removed line" : "line"} ${number}`,
        onclick,
      },
      number,
    ),
  );

function gapRow({ count, name }, split, open) {
  const text = unchangedLines(count);
  const content = name ? el("button", { "data-key": name, onclick: () => open(name) }, `↕ ${text}`) : text;
  return el("tr.gap", el("td", { colspan: columnSpan(split) }, content));
}

// ------------------------------------------------------------ rendered

// Changed blocks and their neighbours; the others are folded until somebody opens them.
function renderedBlocks(state, file, redraw) {
  const blocks = file.rendered;
  if (!blocks.length) return el("div.same", "This file cannot be rendered.");
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
  return el("div.rendered", drawn);
}

// A file that is a picture: both versions side by side, or the only one.
const isPicture = ({ rendered }) => (rendered || []).some(([, node]) => node[0] === "img");
const PICTURE_SIDES = { removed: "Before", added: "After", equal: "The same picture, moved" };

function pictureSides({ rendered, kind }) {
  const label = (side) => ({ added: "New picture", deleted: "Removed picture" })[kind] || PICTURE_SIDES[side];
  return el(
    "div.picturesides",
    rendered.map(([side, node]) =>
      el("figure", { class: `rblock ${side}` }, el("figcaption", label(side)), prose([node])),
    ),
  );
}

const blockGap = (count, onclick) =>
  el("div.gapline", el("button", { onclick }, `↕ ${count} unchanged block${count === 1 ? "" : "s"}`));

// Conversations: remarks, replies, suggestions, and a box to write in. state.typed keeps unsent text by box, so that a
// redraw does not lose it; state.sent names the box that each message was sent from.

// Python's verdict on a sent message: a box is emptied once its message was accepted, and keeps its text otherwise.
function hear(state, [message, accepted]) {
  const box = state.sent[message];
  delete state.sent[message];
  if (!box || !accepted) return;
  delete state.typed[box];
  if (box === replyBox(state.replying)) state.replying = 0;
  if (box === editBox(state.editing)) state.editing = 0;
  if (state.writing && box === lineBox(state.writing)) state.writing = null;
}
const lineBox = ({ path, line, removed }) => `${path}:${removed ? "-" : ""}${line}`;
const replyBox = (thread) => `reply-${thread}`;
const editBox = (comment) => `edit-${comment}`;

// What a component with conversations remembers between two draws.
const talkState = () => ({
  unfolded: new Set(), // resolved conversations that somebody opened
  typed: {},
  sent: {},
  replying: 0,
  editing: 0,
  deleting: 0,
  jumped: "",
});

// A link leads to a place: go there once, and again when it is followed again.
function followLinks(state, at, go) {
  if (!state.follows) window.addEventListener("popstate", () => (state.jumped = ""));
  state.follows = true;
  if (at && at !== state.jumped && go(at)) state.jumped = at;
}

// Scroll to an element and show for a moment which one it is.
function show(root, id) {
  const node = root.querySelector(`#${CSS.escape(id)}`);
  if (!node) return false;
  requestAnimationFrame(() => node.scrollIntoView({ block: "center" }));
  node.classList.add("found");
  setTimeout(() => node.classList.remove("found"), 2500);
  return true;
}

function composer(state, box, { hint, send, cancel, quote, label, text, counting }) {
  const area = el("textarea.write", { placeholder: hint, "aria-label": hint, "data-key": `write ${box}` });
  area.value = state.typed[box] ?? text ?? "";
  const keep = () => {
    area.removeAttribute("aria-invalid");
    state.typed[box] = area.value;
  };
  const insist = () => {
    area.placeholder = "Write something first";
    area.setAttribute("aria-invalid", "true");
    area.focus();
  };
  const submit = () => {
    if (!area.value.trim()) return insist();
    if (area.readOnly) return; // sent already, the answer is on its way
    area.readOnly = true;
    const message = String(Date.now());
    state.sent[message] = box;
    send(area.value, message);
  };
  const suggest = () => {
    const block = "```suggestion\n" + quote() + "\n```\n";
    area.value = area.value ? `${area.value.trimEnd()}\n\n${block}` : block;
    keep();
    area.focus();
    area.setSelectionRange(area.value.indexOf("suggestion\n") + 11, area.value.lastIndexOf("\n```"));
  };
  area.addEventListener("input", keep);
  const names = nameList(area, state.people || [], keep);
  area.addEventListener("keydown", (event) => {
    if (names.take(event)) return;
    if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) submit();
    if (event.key === "Escape" && cancel) cancel();
  });
  const suggestTitle = "Propose other words for these lines; the author applies them with one click";
  return el(
    "div.composer",
    el("div.writing", area, names.box),
    el(
      "div.row",
      button(label || "Comment", submit, { kind: "primary" }),
      quote ? button("Suggest a wording", suggest, { kind: "outline", title: suggestTitle }) : null,
      cancel ? button("Cancel", cancel) : null,
      el("span.muted.small.hint", "Markdown and @names work here"),
    ),
    quote && counting
      ? el(
          "div.muted.small",
          `Once a suggestion is applied, ${counting} counts it as your own words: you can't approve this change.`,
        )
      : null,
  );
}

// Offers people while somebody types @ and the beginning of a name. `take` answers whether a key was meant for the list.
function nameList(area, people, changed) {
  const box = el("div.names", { role: "listbox", "aria-label": "People to mention" });
  box.hidden = true;
  let offered = [];
  let chosen = 0;
  const typed = () =>
    /(?:^|[\s(])@([\p{L}\p{N}._-]*(?: [\p{L}\p{N}._-]*)?)$/u.exec(area.value.slice(0, area.selectionStart));
  const hide = () => {
    box.hidden = true;
    offered = [];
  };
  const pick = (person) => {
    const start = area.selectionStart - typed()[1].length;
    area.setRangeText(`${person.spelled} `, start, area.selectionStart, "end");
    hide();
    changed();
    area.focus();
  };
  const draw = () => {
    const begins = typed()?.[1].toLowerCase();
    const fits = ({ name }) => ` ${name.toLowerCase()}`.includes(` ${begins}`);
    offered = begins === undefined ? [] : people.filter(fits).slice(0, 6);
    chosen = Math.min(chosen, Math.max(0, offered.length - 1));
    box.hidden = !offered.length;
    box.replaceChildren(
      ...offered.map((person, n) =>
        el(
          "div",
          {
            role: "option",
            "aria-selected": n === chosen ? "true" : "false",
            onmousedown: (event) => {
              event.preventDefault(); // the box keeps the focus
              pick(person);
            },
          },
          person.name,
          el("span.muted.small", ` ${person.role}`),
        ),
      ),
    );
  };
  area.addEventListener("input", draw);
  area.addEventListener("blur", hide);
  const take = (event) => {
    if (!offered.length) return false;
    if (event.key === "Enter" || event.key === "Tab") pick(offered[chosen]);
    else if (event.key === "Escape") hide();
    else if (event.key === "ArrowDown" || event.key === "ArrowUp") {
      chosen = (chosen + (event.key === "ArrowDown" ? 1 : offered.length - 1)) % offered.length;
      draw();
    } else return false;
    event.preventDefault();
    event.stopPropagation();
    return true;
  };
  return { box, take };
}

function drawRemark(state, remark, may, act, redraw) {
  if (remark.deleted) return el("div.remark.muted.small", `${remark.name} wrote something that is deleted.`);
  const writing = state.editing === remark.id;
  return el(
    "div.remark",
    el(
      "div.row.who",
      el("span.face", { style: { background: remark.colour } }, remark.initials),
      el("strong", remark.name),
      el("span.muted.small", remark.when, remark.edited ? " · edited" : ""),
      may.comment && remark.mine && !writing ? ownTools(state, remark, act, redraw) : null,
    ),
    writing ? editor(state, remark, act, redraw) : remark.nodes.length ? prose(remark.nodes) : null,
    remark.suggestion && !writing ? suggestion(remark, may, act) : null,
  );
}

// Edit and delete; a second click confirms that it goes.
function ownTools(state, remark, act, redraw) {
  const set = (name, value) => () => {
    state[name] = value;
    redraw();
  };
  const sure = state.deleting === remark.id;
  const remove = () => act({ do: "delete comment", comment: remark.id });
  return el(
    "span.own",
    remark.body !== null ? button("Edit", set("editing", remark.id), { key: `edit ${remark.id}` }) : null,
    sure
      ? [
          button("Delete it", remove, { kind: "danger", key: `sure ${remark.id}` }),
          button("Keep it", set("deleting", 0)),
        ]
      : button("Delete", set("deleting", remark.id), { key: `delete ${remark.id}` }),
  );
}

function editor(state, remark, act, redraw) {
  return composer(state, editBox(remark.id), {
    hint: "Your comment",
    label: "Save",
    text: remark.body,
    send: (body, n) => act({ do: "edit comment", comment: remark.id, body, n }),
    cancel: () => {
      delete state.typed[editBox(remark.id)];
      state.editing = 0;
      redraw();
    },
  });
}

function suggestion(remark, may, act) {
  const label = remark.applied ? "Suggested wording, applied" : "Suggested wording";
  return el(
    "div",
    el("div.muted.small.suggests", label),
    el("div.frame.suggestion", diffBlock(remark.suggestion)),
    suggestionState(remark, may, act),
  );
}

function suggestionState(remark, may, act) {
  if (remark.applied) return badge({ text: "Applied", tone: "good" });
  if (!remark.place) return el("span.muted.small", "The lines have changed since.");
  if (!may.apply) return null;
  return el(
    "div",
    button("Apply suggestion", () => act({ do: "apply", comment: remark.id }), { kind: "outline" }),
    may.counting
      ? el(
          "div.muted.small",
          `Then ${remark.name} can't approve this change: ${may.counting} counts it as their words.`,
        )
      : null,
  );
}

function conversation(state, thread, may, act) {
  const open = state.unfolded.has(thread.id) || !thread.resolved;
  const redraw = () => box.replaceWith(conversation(state, thread, may, act));
  const head = threadHead(state, thread, open, redraw);
  const box = el(
    "div",
    { class: `conversation${thread.resolved ? " done" : ""}`, id: `c${thread.id}`, "data-key": `c${thread.id}` },
    head.childNodes.length ? head : null,
    open && thread.quote && (thread.outdated || (thread.removed && !thread.line))
      ? el("pre.quote", thread.quote)
      : null,
    open ? thread.remarks.map((remark) => drawRemark(state, remark, may, act, redraw)) : null,
    open && may.comment ? answer(state, thread, act, redraw) : null,
  );
  return box;
}

function threadHead(state, thread, open, redraw) {
  const count = thread.remarks.length;
  const toggle = () => {
    open ? state.unfolded.delete(thread.id) : state.unfolded.add(thread.id);
    redraw();
  };
  return el(
    "div.row.place",
    thread.where ? el("span.muted.small", thread.where) : null,
    thread.removed && !thread.where ? el("span.muted.small", "About the text before the change") : null,
    thread.outdated ? badge({ text: "The lines have changed", tone: "warn" }) : null,
    thread.resolved ? badge({ text: "Resolved", tone: "good" }) : null,
    thread.resolved && !open ? el("span.muted.small", thread.remarks[0].name) : null,
    thread.resolved ? button(open ? "Fold" : `Show ${count === 1 ? "1 remark" : `${count} remarks`}`, toggle) : null,
  );
}

// The box for a reply, or the buttons that open it.
function answer(state, thread, act, redraw) {
  const replyTo = (id) => {
    state.replying = id;
    redraw();
  };
  if (state.replying === thread.id)
    return composer(state, replyBox(thread.id), {
      hint: "Reply",
      label: "Reply",
      send: (body, n) => act({ do: "reply", thread: thread.id, body, n }),
      cancel: () => replyTo(0),
    });
  const [label, action] = thread.resolved ? ["Open again", "reopen"] : ["Resolve", "resolve"];
  return el(
    "div.row",
    button("Reply", () => replyTo(thread.id), { kind: "outline" }),
    button(label, () => act({ do: action, thread: thread.id })),
  );
}

// Conversations: remarks, replies, suggestions, and a box to write in. state.typed keeps unsent text by box, so that a
// redraw does not lose it; state.sent names the box that each message was sent from.

// Python's verdict on a sent message: a box is emptied once its message was accepted, and keeps its text otherwise.
function hear(state, [message, accepted]) {
  const box = state.sent[message];
  delete state.sent[message];
  if (!box || !accepted) return;
  delete state.typed[box];
  if (box === replyBox(state.replying)) state.replying = 0;
  if (state.writing && box === lineBox(state.writing)) state.writing = null;
}
const lineBox = ({ path, line }) => `${path}:${line}`;
const replyBox = (thread) => `reply-${thread}`;

function composer(state, box, { hint, send, cancel, quote, label }) {
  const area = el("textarea", { class: "write", placeholder: hint, "aria-label": hint });
  area.value = state.typed[box] || "";
  const keep = () => {
    state.typed[box] = area.value;
  };
  const submit = () => {
    if (!area.value.trim()) return area.focus();
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
  const suggestTitle = "Propose what should stand here instead; the author applies it with one click";
  return el(
    "div",
    { class: "composer" },
    el("div", { class: "writing" }, area, names.box),
    el(
      "div",
      { class: "row" },
      button(label || "Comment", submit, { kind: "primary" }),
      quote ? button("Suggest a wording", suggest, { kind: "outline", title: suggestTitle }) : null,
      cancel ? button("Cancel", cancel) : null,
      el("span", { class: "muted small hint" }, "Markdown and @names work here"),
    ),
  );
}

// Offers people while somebody types @ and the beginning of a name. `take` answers whether a key was meant for the list.
function nameList(area, people, changed) {
  const box = el("div", { class: "names", role: "listbox", "aria-label": "People to mention" });
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
          el("span", { class: "muted small" }, ` ${person.role}`),
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

function drawRemark(remark, may, act) {
  return el(
    "div",
    { class: "remark" },
    el(
      "div",
      { class: "who" },
      el("span", { class: "face", style: { background: remark.colour } }, remark.initials),
      el("strong", {}, remark.name),
      el("span", { class: "muted small" }, remark.when),
    ),
    remark.nodes.length ? prose(remark.nodes) : null,
    remark.suggestion ? suggestion(remark, may, act) : null,
  );
}

function suggestion(remark, may, act) {
  const label = remark.applied ? "Suggested wording, applied" : "Suggested wording";
  return el(
    "div",
    {},
    el("div", { class: "muted small suggests" }, label),
    diffBlock("suggestion", remark.suggestion),
    suggestionState(remark, may, act),
  );
}

function suggestionState(remark, may, act) {
  if (remark.applied) return badge({ text: "Applied", tone: "good" });
  if (!remark.place) return el("span", { class: "muted small" }, "The lines have changed since.");
  if (!may.apply) return null;
  return button("Apply suggestion", () => act({ do: "apply", comment: remark.id }), { kind: "outline" });
}

function conversation(state, thread, may, act) {
  const open = state.unfolded.has(thread.id) || !thread.resolved;
  const redraw = () => box.replaceWith(conversation(state, thread, may, act));
  const head = threadHead(state, thread, open, redraw);
  const box = el(
    "div",
    { class: `conversation${thread.resolved ? " done" : ""}`, id: `thread-${thread.id}` },
    head.childNodes.length ? head : null,
    open && thread.outdated ? el("pre", { class: "quote" }, thread.quote) : null,
    open ? thread.remarks.map((remark) => drawRemark(remark, may, act)) : null,
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
    "div",
    { class: "row place" },
    thread.where ? el("span", { class: "muted small" }, thread.where) : null,
    thread.outdated ? badge({ text: "The lines have changed", tone: "warn" }) : null,
    thread.resolved ? badge({ text: "Resolved", tone: "good" }) : null,
    thread.resolved && !open ? el("span", { class: "muted small" }, thread.remarks[0].name) : null,
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
    "div",
    { class: "row" },
    button("Reply", () => replyTo(thread.id), { kind: "outline" }),
    button(label, () => act({ do: action, thread: thread.id })),
  );
}

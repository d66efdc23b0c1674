// Conversations: remarks, replies, suggestions and a box to write in. What is typed survives a redrawing, by its place.
// A box is emptied when what was sent from it was done; after a refusal the words are still there.
function hear(state, [n, done]) {
  const place = state.sent[n];
  delete state.sent[n];
  if (!place || !done) return;
  delete state.typed[place];
  if (place === `reply-${state.replying}`) state.replying = 0;
  if (state.writing && place === written(state.writing)) state.writing = null;
}
const written = ({ path, line }) => `${path}:${line}`;

function composer(state, place, { hint, send, cancel, quote, label }) {
  const area = el("textarea", {
    class: "write",
    placeholder: hint,
    "aria-label": hint,
    oninput: () => {
      state.typed[place] = area.value;
    },
    onkeydown: (event) => {
      if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) submit();
      if (event.key === "Escape" && cancel) cancel();
    },
  });
  area.value = state.typed[place] || "";
  const submit = () => {
    if (!area.value.trim()) return area.focus();
    if (area.readOnly) return;
    area.readOnly = true;
    const n = String(Date.now());
    state.sent[n] = place;
    send(area.value, n);
  };
  const suggest = () => {
    const at = "```suggestion\n" + quote() + "\n```\n";
    area.value = area.value ? `${area.value.trimEnd()}\n\n${at}` : at;
    state.typed[place] = area.value;
    area.focus();
    area.setSelectionRange(area.value.indexOf("suggestion\n") + 11, area.value.lastIndexOf("\n```"));
  };
  return el(
    "div",
    { class: "composer" },
    area,
    el(
      "div",
      { class: "row" },
      button(label || "Comment", submit, { kind: "primary" }),
      quote
        ? button("Suggest a wording", suggest, {
            kind: "outline",
            title: "Propose what should stand here instead; the author applies it with one click",
          })
        : null,
      cancel ? button("Cancel", cancel) : null,
      el("span", { class: "muted small hint" }, "Markdown works here"),
    ),
  );
}

const marked = (cell, marks) => {
  for (const [changed, text] of marks || []) cell.append(changed ? el("b", {}, text) : document.createTextNode(text));
  return cell;
};

const suggestion = (rows) =>
  el(
    "div",
    { class: "suggestion" },
    rows.flatMap((row) => [
      row.left ? marked(el("div", { class: row.kind === "equal" ? "" : "minus" }), row.before) : null,
      row.right && row.kind !== "equal" ? marked(el("div", { class: "plus" }), row.after) : null,
    ]),
  );

function remark(one, may, act) {
  return el(
    "div",
    { class: "remark" },
    el(
      "div",
      { class: "who" },
      el("span", { class: "face", style: { background: one.colour } }, one.initials),
      el("strong", {}, one.name),
      el("span", { class: "muted small" }, one.when),
    ),
    one.nodes.length ? prose(one.nodes) : null,
    one.suggestion
      ? el(
          "div",
          {},
          el(
            "div",
            { class: "muted small suggests" },
            one.applied ? "Suggested wording, applied" : "Suggested wording",
          ),
          suggestion(one.suggestion),
          one.applied
            ? badge({ text: "Applied", tone: "good" })
            : one.place && may.apply
              ? button("Apply suggestion", () => act({ do: "apply", comment: one.id }), { kind: "outline" })
              : one.place
                ? null
                : el("span", { class: "muted small" }, "The lines have changed since."),
        )
      : null,
  );
}

function conversation(state, one, may, act) {
  const open = state.unfolded.has(one.id) || !one.resolved;
  const draw = () => box.replaceWith(conversation(state, one, may, act));
  const head = el(
    "div",
    { class: "row place" },
    one.where ? el("span", { class: "muted small" }, one.where) : null,
    one.outdated ? badge({ text: "The lines have changed", tone: "warn" }) : null,
    one.resolved ? badge({ text: "Resolved", tone: "good" }) : null,
    one.resolved && !open ? el("span", { class: "muted small" }, one.remarks[0].name) : null,
    one.resolved
      ? button(
          open ? "Fold" : `Show ${one.remarks.length === 1 ? "1 remark" : `${one.remarks.length} remarks`}`,
          () => {
            open ? state.unfolded.delete(one.id) : state.unfolded.add(one.id);
            draw();
          },
        )
      : null,
  );
  const replying = state.replying === one.id;
  const answer = !may.comment
    ? null
    : replying
      ? composer(state, `reply-${one.id}`, {
          hint: "Reply",
          label: "Reply",
          send: (body, n) => act({ do: "reply", thread: one.id, body, n }),
          cancel: () => {
            state.replying = 0;
            draw();
          },
        })
      : el(
          "div",
          { class: "row" },
          button(
            "Reply",
            () => {
              state.replying = one.id;
              draw();
            },
            { kind: "outline" },
          ),
          button(one.resolved ? "Open again" : "Resolve", () =>
            act({ do: one.resolved ? "reopen" : "resolve", thread: one.id }),
          ),
        );
  const box = el(
    "div",
    { class: `conversation${one.resolved ? " done" : ""}` },
    head.childNodes.length ? head : null,
    open && one.outdated ? el("pre", { class: "quote" }, one.quote) : null,
    open ? one.remarks.map((each) => remark(each, may, act)) : null,
    open ? answer : null,
  );
  return box;
}

// One place in conflict: both sides with what each changed since they parted, both edits in one text where that goes,
// and the text that both started from.
export default function ({ data, parentElement }) {
  const root = parentElement.querySelector("#root");
  root.replaceChildren(
    el("div.sides", data.sides.map(drawSide)),
    data.both ? bothEdits(data.both) : touching(),
    el("details.before", el("summary", "The text before both edits"), el("pre.code", data.before || "(nothing)")),
  );
}

const drawSide = ({ name, rows }) => el("div.frame", el("div.name", name), changes(rows));

const bothEdits = (rows) =>
  el(
    "div.frame.both",
    el(
      "div.name",
      "Both edits ",
      badge({ text: "Suggested", tone: "good" }),
      el("span.muted.small", " They change different words, so nobody's edit is lost."),
    ),
    changes(rows),
  );

const touching = () =>
  el("div.muted.small.note", "Both edits change the same words, so one text cannot hold them both.");

const changes = (rows) => (rows.length ? diffBlock(rows) : el("div.muted.small.gone", "(deletes these lines)"));

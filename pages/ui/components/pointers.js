// What stands between a change and its merge, each with a link to the place: requests, findings, conversations.
export default function ({ data, parentElement }) {
  const root = parentElement.querySelector("#root");
  const [fresh, known] = [false, true].map((old) => data.fixes.filter((fix) => Boolean(fix.known) === old));
  root.replaceChildren(
    ...data.blocks.map(drawBlock),
    list(`${fresh.length} to fix`, fresh, (fix) => fixLink(data.change, fix)),
    list(`${known.length} already there before this change`, known, (fix) => fixLink(data.change, fix), 0),
    list(
      data.talks.length === 1 ? "1 open conversation" : `${data.talks.length} open conversations`,
      data.talks,
      (talk) => inside({}, href(talk.place), talk.text),
    ),
  );
}

const href = (place) => `/reviews?${new URLSearchParams(place)}`;

const drawBlock = ({ name, when, note, edited, place }) =>
  el(
    "div.ask",
    el("div.row", el("strong", name), badge({ text: "Requests changes", tone: "bad" }), el("span.muted.small", when)),
    prose(note),
    el("div.row.small", edited ? el("span.muted", edited) : null, inside({}, href(place), "See it in the discussion")),
  );

const fixLink = (change, { path, line, severity, message }) =>
  inside(
    {},
    href({ change, side: "Documents", at: `l${line}:${path}` }),
    severity === "error" ? "Error, " : "",
    `${path.split("/").at(-1)}, line ${line}: ${message}`,
  );

// Short lists are open at once.
function list(title, items, draw, most = 3) {
  if (!items.length) return "";
  const box = el("details", el("summary", title), el("ul", ...items.map((item) => el("li", draw(item)))));
  box.open = items.length <= most;
  return box;
}

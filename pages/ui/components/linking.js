// Documents that a link can lead to, offered after [[ and ](, by title, id or path.
const MOST_OFFERED = 40;

// The way from one document to another, as a link in Markdown spells it.
function relativePath(from, to) {
  const here = from.split("/").slice(0, -1);
  const there = to.split("/");
  let shared = 0;
  while (shared < here.length && shared < there.length - 1 && here[shared] === there[shared]) shared++;
  const path = [...here.slice(shared).map(() => ".."), ...there.slice(shared)].join("/");
  return path.replace(/[\s%()<>#?\\]/g, (odd) => `%${odd.charCodeAt(0).toString(16).toUpperCase().padStart(2, "0")}`);
}

const linkWords = (title) => title.replace(/[[\]\\]/g, "\\$&");

// The documents that hold every word; those whose title starts with what was typed come first.
function offered(documents, typed) {
  const asked = typed.toLowerCase().trim();
  const words = asked.split(/\s+/).filter(Boolean);
  const text = ({ title, id, path }) => `${title} ${id} ${path}`.toLowerCase();
  const later = ({ title }) => (title.toLowerCase().startsWith(asked) ? 0 : 1);
  return documents
    .filter((document) => words.every((word) => text(document).includes(word)))
    .sort((a, b) => later(a) - later(b) || a.title.localeCompare(b.title))
    .slice(0, MOST_OFFERED);
}

// `documents()` gives a promise of { title, id, path }, `here()` the path of the document that is written.
const linkSource = (documents, here) => async (context) => {
  const found = context.matchBefore(/\[\[[^\]\n]*$/) || context.matchBefore(/\]\([^()\n]*$/);
  if (!found) return null;
  const whole = found.text.startsWith("[[");
  const typed = found.text.slice(2);
  if (!whole && /^[a-z][a-z0-9+.-]*:|^\/\/|^#/i.test(typed)) return null;
  const known = (await documents()).filter(({ path }) => path !== here());
  const options = offered(known, whole ? typed : typed.replaceAll("../", "")).map((document) => ({
    label: document.title,
    detail: document.id === document.path.replace(/\.md$/, "") ? document.path : `${document.id} · ${document.path}`,
    apply: (view, _, from, to) => writeLink(view, whole, document, relativePath(here(), document.path), from, to),
  }));
  return { from: whole ? found.from : found.from + 2, to: context.pos, options, filter: false };
};

function writeLink(view, whole, document, target, from, to) {
  const rest = view.state.doc.sliceString(to, to + 2);
  const insert = whole ? `[${linkWords(document.title)}](${target})` : rest.startsWith(")") ? target : `${target})`;
  const end = whole && rest === "]]" ? to + 2 : to;
  const past = !whole && rest.startsWith(")") ? 1 : 0;
  view.dispatch({
    changes: { from, to: end, insert },
    selection: { anchor: from + insert.length + past },
    userEvent: "input.complete",
  });
}

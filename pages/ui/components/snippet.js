// A passage with its matched words and its best sentence marked; `cut` says whether text was left off at the start and the end.
const snippet = ({ segments, cut: [cutStart, cutEnd] }) =>
  el("div", { class: "text" }, cutStart ? "… " : null, segments.map(segment), cutEnd ? " …" : null);

function segment([text, matched, best]) {
  const words = matched ? el("mark", {}, text) : text;
  return best ? el("span", { class: "best" }, words) : words;
}

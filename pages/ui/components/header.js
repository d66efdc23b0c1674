export default function ({ data, parentElement }) {
  fill(
    parentElement,
    el("h1", data.title),
    el("div.row", data.badges.map(badge)),
    el("div.row.facts", ...data.facts.map(([name, value]) => el("div", el("span", name), value))),
  );
}

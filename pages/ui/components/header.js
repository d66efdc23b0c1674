export default function ({ data, parentElement }) {
  parentElement.querySelector("#root").replaceChildren(
    el("h1", {}, data.title),
    el("div", { class: "row" }, data.badges.map(badge)),
    el(
      "div",
      { class: "facts" },
      data.facts.map(([name, value]) => el("div", {}, el("span", {}, name), value)),
    ),
  );
}

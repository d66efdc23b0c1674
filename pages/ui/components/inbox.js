// Messages, each a line that leads to what it is about. Python marks it as read and opens the page.
export default function ({ data, parentElement, setTriggerValue }) {
  const root = parentElement.querySelector("#root");
  const drawLine = (line) => {
    const open = (event) => {
      if (event.ctrlKey || event.metaKey || event.shiftKey || event.button) return;
      event.preventDefault();
      setTriggerValue("open", line.id);
    };
    return el(
      "li",
      { class: line.unread ? "item new" : "item" },
      el("span", { class: "mark" }, line.unread ? el("span", { class: "offscreen" }, "New") : null),
      el(
        "div",
        { class: "main" },
        el("a", { href: line.href, onclick: open }, line.sentence),
        line.text ? el("div", { class: "sub" }, line.text) : null,
      ),
      el("div", { class: "side" }, badge(line.badge), el("span", { class: "when" }, line.when)),
    );
  };
  root.replaceChildren(
    data.lines.length ? el("ul", { class: "messages" }, data.lines.map(drawLine)) : nothing(data.empty),
  );
}

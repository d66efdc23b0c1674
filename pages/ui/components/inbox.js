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
      el("span.mark", line.unread ? el("span.offscreen", "New") : null),
      el(
        "div.main",
        el("a", { href: line.href, onclick: open }, line.sentence),
        line.text ? el("div.sub", line.text) : null,
      ),
      el("div.side", badge(line.badge), el("span.when", line.when)),
    );
  };
  root.replaceChildren(data.lines.length ? el("ul.messages", data.lines.map(drawLine)) : nothing(data.empty));
}

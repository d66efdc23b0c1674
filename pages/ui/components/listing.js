export default function ({ data, parentElement, setTriggerValue }) {
  const root = parentElement.querySelector("#root");
  if (data.bars) {
    const most = Math.max(1, ...data.bars.map((bar) => bar[1]));
    root.replaceChildren(
      el(
        "div",
        { class: "bars" },
        data.bars.map(([name, count]) => [
          el("span", {}, name),
          el("div", { class: "track" }, el("div", { style: { width: `${(100 * count) / most}%` } })),
          el("span", { class: "n" }, count),
        ]),
      ),
    );
    return;
  }
  const place = (item) => item.place || { doc: item.doc };
  root.replaceChildren(
    el(
      "div",
      {},
      data.items.length
        ? data.items.map((item) =>
            el(
              "div",
              { class: "item" },
              el(
                "div",
                { class: "main" },
                item.doc
                  ? inside(
                      {},
                      `/documents?${new URLSearchParams(place(item))}`,
                      () => setTriggerValue("open", place(item)),
                      item.title,
                    )
                  : el("span", {}, item.title),
                item.sub ? el("div", { class: "sub" }, item.sub) : null,
              ),
              el(
                "div",
                { class: "right" },
                (item.badges || []).map(badge),
                item.right ? el("div", {}, item.right) : null,
              ),
            ),
          )
        : el("div", { class: "none" }, data.empty),
    ),
  );
}

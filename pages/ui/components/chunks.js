export default function ({ data, parentElement }) {
  const root = parentElement.querySelector("#root");
  const sheet = (one) => {
    const chars = Array.from(data.text);
    const edges = [...new Set([0, chars.length, ...one.chunks.flatMap((chunk) => [chunk.start, chunk.end])])].sort(
      (a, b) => a - b,
    );
    const out = el("div", { class: "sheet" });
    let parents = new Set();
    for (let n = 0; n + 1 < edges.length; n++) {
      const [from, to] = [edges[n], edges[n + 1]];
      const covering = one.chunks
        .map((chunk, at) => [chunk, at])
        .filter(([chunk]) => chunk.start <= from && to <= chunk.end);
      for (const [chunk, at] of covering) {
        if (chunk.start !== from) continue;
        const parent = chunk.parent ? chunk.parent.join("-") : "";
        if (parent && !parents.has(parent)) {
          parents.add(parent);
          out.append(
            el(
              "span",
              { class: "tag parent", title: `Parent: characters ${chunk.parent[0]} to ${chunk.parent[1]}` },
              `parent ${parents.size}`,
            ),
          );
        }
        out.append(
          el(
            "span",
            {
              class: "tag",
              title: [chunk.heading, chunk.context ? `Context: ${chunk.context}` : ""].filter(Boolean).join("\n"),
            },
            `${at + 1} · ${chunk.tokens}`,
          ),
        );
      }
      const kind =
        covering.length > 1 ? "piece both" : covering.length ? `piece ${covering[0][1] % 2 ? "b" : "a"}` : "plain";
      out.append(el("span", { class: kind }, chars.slice(from, to).join("")));
    }
    return el("section", {}, el("h4", {}, one.name), el("div", { class: "muted small" }, one.summary), out);
  };
  root.replaceChildren(el("div", { class: `layout${data.sides.length > 1 ? " two" : ""}` }, data.sides.map(sheet)));
}

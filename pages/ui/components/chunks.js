// A document's text with its chunks marked, once per chunker.
export default function ({ data, parentElement }) {
  const root = parentElement.querySelector("#root");
  const characters = Array.from(data.text); // offsets count code points, as Python does
  const sides = data.sides.map((side) => drawSide(side, characters));
  root.replaceChildren(el("div", { class: `layout${sides.length > 1 ? " two" : ""}` }, sides));
}

function drawSide({ name, summary, chunks }, characters) {
  const parents = new Set();
  const sheet = el(
    "div.sheet",
    { tabindex: 0, role: "region", "aria-label": `Chunks: ${name}` },
    spans(chunks, characters.length).map(([start, end]) => {
      const covering = chunks
        .map((chunk, n) => [chunk, n])
        .filter(([chunk]) => chunk.start <= start && end <= chunk.end);
      const starting = covering.filter(([chunk]) => chunk.start === start);
      return [
        starting.map(([chunk, n]) => [parentTag(chunk, parents), chunkTag(chunk, n)]),
        el("span", { class: spanClass(covering) }, characters.slice(start, end).join("")),
      ];
    }),
  );
  return el("section", el("h2", name), el("div.muted.small", summary), sheet);
}

// The text cut wherever a chunk starts or ends: [start, end] pairs.
function spans(chunks, length) {
  const edges = [...new Set([0, length, ...chunks.flatMap((chunk) => [chunk.start, chunk.end])])].sort((a, b) => a - b);
  return edges.slice(1).map((end, n) => [edges[n], end]);
}

function spanClass(covering) {
  if (covering.length > 1) return "piece both";
  return covering.length ? `piece ${covering[0][1] % 2 ? "b" : "a"}` : "plain";
}

// Each parent is named once, where its first chunk starts.
function parentTag({ parent }, parents) {
  const key = parent ? parent.join("-") : "";
  if (!key || parents.has(key)) return null;
  parents.add(key);
  const title = `Parent: characters ${parent[0]} to ${parent[1]}`;
  return el("span.tag.parent", { title }, `parent ${parents.size}`);
}

function chunkTag(chunk, n) {
  const title = [chunk.heading, chunk.context ? `Context: ${chunk.context}` : ""].filter(Boolean).join("\n");
  return el("span.tag", { title }, `${n + 1} · ${chunk.tokens}`);
}

// Copy the link of a document; what is asked for less often is `more`: its link as it is now, and printing.
export default function ({ data, parentElement }) {
  const [link, pinned] = [{ doc: data.doc }, data.pinned].map(
    (place) => new URL(documentHref(place), window.location.origin).href,
  );
  fill(
    parentElement,
    el(
      "div.row",
      data.more ? "" : button("Copy link", (event) => copy(link, event.target), { kind: "outline" }),
      data.more
        ? [
            button("Link to this version", (event) => copy(pinned, event.target), {
              kind: "outline",
              title: "Opens the text as it is now, also when it has changed",
            }),
            button("Print", () => window.print(), { kind: "outline", title: "Print, or save as PDF" }),
          ]
        : "",
    ),
  );
}

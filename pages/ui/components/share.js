// Copy the link of a document, as it will be or as it is now, or print it.
export default function ({ data, parentElement }) {
  const [link, pinned] = [{ doc: data.doc }, data.pinned].map(
    (place) => new URL(documentHref(place), window.location.origin).href,
  );
  parentElement.querySelector("#root").replaceChildren(
    el(
      "div",
      { class: "row" },
      button("Copy link", (event) => copy(link, event.target), { kind: "outline" }),
      button("Link to this version", (event) => copy(pinned, event.target), {
        kind: "outline",
        title: "Opens the text as it is now, also when it has changed",
      }),
      button("Print", () => window.print(), { kind: "outline", title: "Print, or save as PDF" }),
    ),
  );
}

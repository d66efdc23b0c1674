// Copy the link of a document, or print it.
export default function ({ data, parentElement }) {
  const link = new URL(documentHref({ doc: data.doc }), window.location.origin).href;
  parentElement.querySelector("#root").replaceChildren(
    el(
      "div",
      { class: "row" },
      button("Copy link", (event) => copy(link, event.target), { kind: "outline" }),
      button("Print", () => window.print(), { kind: "outline", title: "Print, or save as PDF" }),
    ),
  );
}

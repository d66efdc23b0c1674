export default function ({ data, parentElement }) {
  parentElement.querySelector("#root").replaceChildren(prose(data.nodes));
}

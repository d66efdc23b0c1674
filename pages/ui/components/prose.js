export default function ({ data, parentElement }) {
  fill(parentElement, prose(data.nodes));
}

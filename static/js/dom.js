/** Elements by name, attributes and children; text is always text, never markup. */

const SVG = "http://www.w3.org/2000/svg";

/** el("button", { class: "x", onclick, disabled: true }, "text", child): falsy parts are left out. */
export function el(name, attributes = {}, ...children) {
  const node = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) {
    if (value === null || value === undefined || value === false || value === "") continue;
    if (key.startsWith("on")) node.addEventListener(key.slice(2), value);
    else node.setAttribute(key, value === true ? "" : value);
  }
  node.append(...children.flat().filter(Boolean));
  return node;
}

/** A picture of the page's own sprite; decoration, so hidden from readers. */
export function icon(name) {
  const svg = document.createElementNS(SVG, "svg");
  svg.setAttribute("class", "icon");
  svg.setAttribute("aria-hidden", "true");
  const use = document.createElementNS(SVG, "use");
  use.setAttribute("href", `#icon-${name}`);
  svg.append(use);
  return svg;
}

/**
 * Make `list`'s children agree with `entries` ({ key, version }), touching only what changed.
 * Nodes that stay are the same nodes, so focus, selection and what was read aloud are kept.
 */
export function reconcile(list, entries, build) {
  const known = new Map([...list.children].map((node) => [node.dataset.key, node]));
  let cursor = list.firstElementChild;
  for (const entry of entries) {
    let node = known.get(entry.key);
    known.delete(entry.key);
    if (node?.dataset.version !== entry.version) {
      const next = build(entry);
      Object.assign(next.dataset, { key: entry.key, version: entry.version });
      if (node) {
        const focused = node.contains(document.activeElement);
        if (node === cursor) cursor = next;
        node.replaceWith(next);
        if (focused) next.focus({ preventScroll: true });
      }
      node = next;
    }
    if (node === cursor) cursor = cursor.nextElementSibling;
    else list.insertBefore(node, cursor);
  }
  for (const node of known.values()) node.remove();
}

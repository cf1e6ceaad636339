// All elements are made here, so that text is always added as text and never as markup.

// el returns an element with attributes and children. A function among the attributes handles the event
// that the attribute names; null and false omit an attribute or a child.
function el(tag, attributes, ...children) {
  const node = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes || {})) {
    if (typeof value === 'function') node.addEventListener(name, value);
    else if (name === 'class') node.className = value;
    else if (value !== null && value !== undefined && value !== false) node.setAttribute(name,
      value === true ? '' : value);
  }
  fill(node, ...children);
  return node;
}

// fill appends children: nodes, or text, whose invisible characters are made visible.
function fill(node, ...children) {
  for (const child of children.flat()) {
    if (child === null || child === undefined || child === false) continue;
    node.append(child instanceof Node ? child : document.createTextNode(visible(child)));
  }
  return node;
}

// refill replaces the children of node if key has changed since the last call.
const filledBy = new WeakMap();
function refill(node, key, children) {
  const text = JSON.stringify(key);
  if (filledBy.get(node) === text) return;
  filledBy.set(node, text);
  node.replaceChildren();
  fill(node, ...children());
}

// chooser returns a labelled select. Options are pairs of a value and a text.
function chooser(label, chosen) {
  const select = el('select', { change: () => chosen(select.value) });
  return {
    node: el('label', { class: 'chooser' }, label + ' ', select),
    set(options, value) {
      refill(select, options, () => options.map(([v, t]) => el('option', { value: v }, oneLine(t, 60))));
      select.value = value;
    },
  };
}

// button returns a button with a label.
function button(text, act, more) {
  return el('button', Object.assign({ type: 'button', click: act }, more), text);
}

// card returns a section of the page with a heading, tools at its right, and a body.
function card(id, title, tools, ...body) {
  return el('section', { class: 'card', id, 'aria-labelledby': id + '-title' },
    el('div', { class: 'bar' }, el('h2', { id: id + '-title' }, oneLine(title, 200)),
      el('div', { class: 'tools' }, ...(tools || []))),
    ...body);
}

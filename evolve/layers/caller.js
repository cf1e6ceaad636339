
;function base(index, ...args) {
  const { answers, asked, signal, parse, stringify } = evoalloc_layers;
  const key = stringify([index, args]);
  const known = answers[key];
  if (known === undefined) {
    asked.push(key);
    throw signal;
  }
  if (known === '') throw new Error('base ' + index + ' failed');
  return parse(known);
}
var evoalloc_layers = {
  answers: { __proto__: null, ...JSON.parse(ANSWERS) },
  asked: [],
  signal: { toString() { return 'a call of a base is to be answered'; } },
  parse: JSON.parse,
  stringify: JSON.stringify,
};
function evoalloc_combine() {
  let value = null;
  try {
    value = (typeof ENTRY === 'function' ? ENTRY : module.exports.ENTRY || module.exports)();
  } catch (e) {
    if (evoalloc_layers.asked.length === 0) throw e;
  }
  return evoalloc_layers.asked.length > 0 ? { asked: evoalloc_layers.asked } : { value };
}

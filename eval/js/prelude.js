// Runs once in every new machine, before it is copied: what programs find besides the language.
// Nothing here is reachable from a program but what is defined at the end.
(function (log) {
  'use strict';
  const { apply, construct, defineProperty, ownKeys } = Reflect;
  const RealDate = Date;
  const proto = RealDate.prototype;
  const NOW = 946684800000; // 2000-01-01T00:00:00Z, not 0: programs seed generators with it
  const text = String, number = Number;

  // The clock stands still, and the time zone is UTC wherever the host is.
  const realParse = RealDate.parse, realUTC = RealDate.UTC;
  const parse = { parse(s) {
    s = text(s);
    const utc = realParse(s + 'Z'); // not a date if s names its zone
    return utc === utc ? utc : realParse(s);
  } }.parse;
  function FrozenDate(...parts) {
    if (new.target === undefined) return apply(proto.toString, new RealDate(NOW), []);
    let t = NOW;
    if (parts.length > 1) {
      t = apply(realUTC, undefined, parts);
    } else if (parts.length === 1) {
      const v = parts[0];
      t = typeof v === 'string' ? parse(v) : v;
    }
    return construct(RealDate, [t], new.target);
  }
  const plain = (value) =>
    ({ __proto__: null, value, writable: true, configurable: true, enumerable: true });
  const hide = (object, name, value) =>
    defineProperty(object, name, { __proto__: null, value, writable: true, configurable: true, enumerable: false });
  for (const key of ownKeys(proto)) {
    if (typeof key !== 'string') continue;
    const utc = /^([gs]et)(Date|Day|FullYear|Hours|Milliseconds|Minutes|Month|Seconds)$/.exec(key);
    if (utc) hide(proto, key, proto[utc[1] + 'UTC' + utc[2]]);
  }
  hide(proto, 'getTimezoneOffset', { getTimezoneOffset() { return 0; } }.getTimezoneOffset);
  const utcString = proto.toUTCString;
  for (const key of ['toString', 'toDateString', 'toTimeString', 'toLocaleString', 'toLocaleDateString', 'toLocaleTimeString']) {
    hide(proto, key, { [key]() { return apply(utcString, this, []); } }[key]);
  }
  defineProperty(FrozenDate, 'name', { value: 'Date', configurable: true });
  defineProperty(FrozenDate, 'length', { value: 7, configurable: true });
  defineProperty(FrozenDate, 'prototype', { value: proto, writable: false });
  hide(proto, 'constructor', FrozenDate);
  hide(FrozenDate, 'now', { now() { return NOW; } }.now);
  hide(FrozenDate, 'parse', parse);
  hide(FrozenDate, 'UTC', realUTC);
  hide(globalThis, 'Date', FrozenDate);
  hide(globalThis, 'performance', { now() { return 0; } });

  // The engine's own bound functions and iterator helpers can be stacked without limit, and nothing
  // checks how deep it nests calls to run such a stack. Closures take the place of the former; the
  // latter are younger than ES2023 anyway.
  hide(Function.prototype, 'bind', { bind(self, ...first) {
    const target = this;
    if (typeof target !== 'function') throw new TypeError('bind: not a function');
    return (...rest) => {
      const args = [];
      for (let i = 0; i < first.length; i++) defineProperty(args, i, plain(first[i]));
      for (let i = 0; i < rest.length; i++) defineProperty(args, first.length + i, plain(rest[i]));
      return apply(target, self, args);
    };
  } }.bind);
  const iterators = Iterator.prototype;
  for (const name of ['drop', 'filter', 'flatMap', 'map', 'take']) delete iterators[name];
  for (const name of ['concat', 'from']) delete Iterator[name];

  const out = {};
  for (const key of ['log', 'info', 'warn', 'error', 'debug']) hide(out, key, log);
  hide(globalThis, 'console', out);

  // So that a program that ends in module.exports = {...} runs.
  const module = { exports: {} };
  hide(globalThis, 'module', module);
  hide(globalThis, 'exports', module.exports);
})

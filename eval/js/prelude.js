// Runs once in every new machine, before it is copied: what programs find besides the language, and what reads their
// results and errors. Those functions use nothing that a program may have redefined, though they run its getters.
(function (print, numbers, outputLimit) {
  'use strict';
  const { apply, construct, defineProperty, getOwnPropertyDescriptor, getPrototypeOf, ownKeys } = Reflect;
  const { isArray } = Array, { isError } = Error, { keys } = Object, { stringify } = JSON;
  const RealDate = Date, proto = RealDate.prototype, text = String;
  const NOW = 946684800000; // 2000-01-01T00:00:00Z, not 0: programs seed generators with it

  // The clock stands still, and the time zone is UTC wherever the host is.
  const realParse = RealDate.parse, realUTC = RealDate.UTC;
  const parse = { parse(s) {
    s = text(s);
    const utc = realParse(s + 'Z'); // not a date if s names its zone
    return utc === utc ? utc : realParse(s);
  } }.parse;
  function FrozenDate(...parts) {
    if (new.target === undefined) return apply(proto.toString, new RealDate(NOW), []);
    const t = parts.length > 1 ? apply(realUTC, undefined, parts) : parts.length === 0 ? NOW
      : typeof parts[0] === 'string' ? parse(parts[0]) : parts[0];
    return construct(RealDate, [t], new.target);
  }
  const hide = (object, name, value) =>
    defineProperty(object, name, { __proto__: null, value, writable: true, configurable: true, enumerable: false });
  for (const key of ownKeys(proto)) {
    if (typeof key !== 'string') continue;
    const utc = /^([gs]et)(Date|Day|FullYear|Hours|Milliseconds|Minutes|Month|Seconds)$/.exec(key);
    if (utc) hide(proto, key, proto[utc[1] + 'UTC' + utc[2]]);
  }
  hide(proto, 'getTimezoneOffset', { getTimezoneOffset() { return 0; } }.getTimezoneOffset);
  const utcString = proto.toUTCString;
  for (const part of ['', 'Date', 'Time', 'Locale', 'LocaleDate', 'LocaleTime']) {
    const key = `to${part}String`;
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

  // Iterator helpers can be stacked, and the engine does not check how deep it nests calls of take and drop. They are
  // younger than ES2023 anyway.
  const iterators = Iterator.prototype;
  for (const name of ['drop', 'filter', 'flatMap', 'map', 'take']) delete iterators[name];
  for (const name of ['concat', 'from']) delete Iterator[name];

  // print reports whether there is room for more.
  let room = true;
  const log = (...args) => {
    if (!room) return;
    let line = '';
    for (let i = 0; i < args.length; i++) line += (i > 0 ? ' ' : '') + `${args[i]}`;
    room = print(line + '\n') !== 0;
  };
  const console = {};
  for (const key of ['log', 'info', 'warn', 'error', 'debug']) hide(console, key, log);
  hide(globalThis, 'console', console);

  // So that a program that ends in module.exports = {...} runs.
  const module = { exports: {} };
  hide(globalThis, 'module', module);
  hide(globalThis, 'exports', module.exports);

  const slice = text.prototype.slice;
  const cut = (s, n) => s.length > n ? apply(slice, s, [0, n]) + '…' : s;
  const mostNested = 64; // a cycle is deeper than that
  const path = new Array(mostNested).fill(0); // of the value that encode is at
  let refused; // why the result is not data
  const refuse = (what, depth) => {
    refused = `returned ${what}${depth > 0 ? ' at result' : ''}`;
    for (let i = 0; i < depth; i++) {
      refused += `[${stringify(typeof path[i] === 'string' ? cut(path[i], 100) : path[i])}]`;
    }
    throw refused;
  };
  const within = (s) => s.length > outputLimit ? refuse(`more than ${outputLimit} bytes of JSON`, 0) : s;

  // encode returns v, the value at path, as JSON. It calls no toJSON and refuses numbers that are not finite, where
  // JSON.stringify would write null.
  const kindOfTyped = getOwnPropertyDescriptor(getPrototypeOf(Int8Array.prototype), Symbol.toStringTag).get;
  const encode = (v, depth) => {
    const s = numbers(v);
    if (s !== undefined) return s;
    switch (typeof v) {
    case 'number': return refuse(`${v > 0 ? '+Inf' : v < 0 ? '-Inf' : 'NaN'}, not a finite number,`, depth);
    case 'string': return within(v.length > outputLimit ? v : stringify(v));
    case 'boolean': return `${v}`;
    case 'undefined': return refuse('undefined', depth);
    case 'bigint': return refuse('a BigInt', depth);
    case 'object': break;
    default: return refuse(`a ${typeof v}`, depth);
    }
    if (v === null) return 'null';
    if (depth === mostNested) refuse(`data nested more than ${mostNested} deep, or a cycle`, 0);
    return isArray(v) || apply(kindOfTyped, v, []) !== undefined ? encodeList(v, depth) : encodeMembers(v, depth);
  };
  const encodeList = (v, depth) => {
    const n = v.length;
    if (typeof n !== 'number') refuse('an array whose length is no number', depth);
    if (!(n >= 0 && n <= outputLimit)) refuse(`an array of length ${n}`, depth);
    let s = '';
    for (let i = 0; i < n; i++) {
      path[depth] = i;
      s = within(s + (i > 0 ? ',' : '') + encode(v[i], depth + 1));
    }
    return `[${s}]`;
  };
  const encodeMembers = (v, depth) => {
    const names = keys(v);
    let s = '';
    for (let i = 0; i < names.length; i++) {
      path[depth] = names[i];
      const item = v[names[i]];
      if (item !== undefined) s = within(`${s}${s && ','}${stringify(names[i])}:${encode(item, depth + 1)}`);
    }
    return `{${s}}`;
  };

  // describe returns what is to be said of what was thrown, as JSON.
  const describe = (e) => {
    const member = (key, type, n) => {
      try {
        const v = e[key];
        if (typeof v === type) return cut(text(v), n);
      } catch {}
      return '';
    };
    let reason = refused, stack = '';
    if (refused !== undefined); // which is the reason
    else if (typeof e === 'string') reason = `threw ${stringify(cut(e, 500))}`;
    else if (typeof e === 'symbol') reason = 'threw a symbol';
    else if (typeof e !== 'object' && typeof e !== 'function' || e === null) reason = `threw ${cut(text(e), 500)}`;
    else if (!isError(e)) reason = 'threw an object that is not an Error';
    else {
      const name = member('name', 'string', 500), message = member('message', 'string', 500);
      const line = member('lineNumber', 'number', 20), column = member('columnNumber', 'number', 20);
      reason = `threw ${name}${message && `: ${message}`}${line && column && ` (line ${line}, column ${column})`}`;
      stack = member('stack', 'string', 2048);
      if (name === 'InternalError' && message === 'stack overflow') reason = 'calls nest too deeply', stack = '';
    }
    return `{"reason":${stringify(reason)},"stack":${stringify(stack)}}`; // stringify of an object would call setters
  };
  return [(v) => within(encode(v, 0)), describe];
})

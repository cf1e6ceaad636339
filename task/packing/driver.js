;function evoalloc_table() {
  let ask;
  if (typeof priority === 'function') ask = priority;
  else if (typeof module === 'object' && module !== null) {
    const all = module.exports;
    ask = typeof all === 'function' ? all : all && all.priority;
  }
  if (typeof ask !== 'function') throw new TypeError('the program defines no function priority');
  const table = [];
  for (let item = 1; item <= 100; item++) {
    for (let room = item; room <= 100; room++) {
      const p = ask(item, room);
      if (typeof p !== 'number' || p !== p) {
        throw new TypeError(`priority(${item}, ${room}) is ${typeof p === 'number' ? 'NaN' : 'no number but of type ' + typeof p}: it has to be a number`);
      }
      // An infinite priority is the highest or lowest of all.
      table.push(p > Number.MAX_VALUE ? Number.MAX_VALUE : p < -Number.MAX_VALUE ? -Number.MAX_VALUE : p);
    }
  }
  return table;
}

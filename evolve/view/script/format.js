// Numbers as people read them.

// grouped writes whole numbers with their thousands apart, and others with three digits after the point at most.
function grouped(x) {
  return x.toLocaleString('en-US', { maximumFractionDigits: 3 });
}

// compact writes x in a few characters: 950, 12.3 k, 4.56 M, 7.8e15.
function compact(x, digits = 3) {
  const size = Math.abs(x);
  if (size < 100) return String(+x.toPrecision(digits));
  if (size < 1e4) return (+x.toFixed(digits - 3)).toLocaleString('en-US', { maximumFractionDigits: 12 });
  if (size >= 1e15) return (+x.toPrecision(digits)).toExponential().replace('e+', 'e');
  const unit = [[1e12, 'T'], [1e9, 'G'], [1e6, 'M'], [1e3, 'k']].find(([u]) => size >= u);
  return +(x / unit[0]).toPrecision(digits) + ' ' + unit[1];
}

// score writes a score to six digits.
function score(x, digits = 6) {
  return x === null || x === undefined || Number.isNaN(x) ? '\u2013' : String(+x.toPrecision(digits));
}

// apart writes the numbers along an axis, which are round, with at least so many digits and with all that they need: of
// a narrow part of an axis six digits may be the same for each.
function apart(numbers, write, digits) {
  const exact = numbers.map(x => write(x, 12));
  while (numbers.length > 1 && digits < 12 && numbers.some((x, i) => write(x, digits) !== exact[i])) digits++;
  return numbers.map(x => write(x, digits));
}

// duration writes seconds.
function duration(s) {
  if (!Number.isFinite(s)) return '\u2013';
  if (s < 10) return +s.toPrecision(2) + ' s';
  if (s < 120) return Math.round(s) + ' s';
  if (s < 7200) return Math.round(s / 60) + ' min';
  if (s < 172800) return +(s / 3600).toFixed(1) + ' h';
  return +(s / 86400).toFixed(1) + ' days';
}

// percent writes a share of one.
function percent(p) {
  return +(100 * p).toFixed(1) + ' %';
}

// plural writes a count and what is counted.
function plural(n, what) {
  return grouped(n) + ' ' + what + (n === 1 ? '' : 's');
}

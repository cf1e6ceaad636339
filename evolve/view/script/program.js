// Programs: their text with colours, cut where it would block the browser, and whole in a file.

const LONGEST_LINE = 2000; // characters of a line that are shown
const MOST_TEXT = 200000; // characters of a program that are shown

// shortened returns the beginning of a line, with a note on how much is hidden.
function shortened(line) {
  return line.length <= LONGEST_LINE ? line : line.slice(0, LONGEST_LINE) + ' \u2026 ' +
    grouped(line.length - LONGEST_LINE) + ' more characters';
}

// noText returns why the text of a program is not shown, and which file has it.
function noText(app, run) {
  if (run.texts) return 'This page was made of a result, which has no programs: a report of the run\u2019s journal, ' +
    oneLine(run.texts, 200) + ', shows them.';
  return app.page.live ? 'The server does not have its text now.'
    : 'Its text is not in this file, which holds the best ones and as many others as fit.';
}

// codeNode returns an element that shows a program. Runs are pairs of a length and a class.
function codeNode(code) {
  const pre = el('pre', { class: 'code', tabindex: 0 });
  let left = MOST_TEXT;
  let at = 0;
  for (const [length, kind] of runsOf(code)) {
    if (left <= 0) break;
    const text = code.text.substr(at, Math.min(length, left)).split('\n').map(shortened).join('\n');
    at += length;
    left -= length;
    pre.append(kind ? el('span', { class: 'k' + kind }, text) : document.createTextNode(visible(text)));
  }
  if (code.text.length > MOST_TEXT) pre.append(el('em', {},
    '\n' + grouped(code.text.length - MOST_TEXT) + ' more characters are in the saved file.'));
  return pre;
}

function runsOf(code) {
  if (!code.runs || code.runs.length < 2) return [[code.text.length, 0]];
  const pairs = [];
  let sum = 0;
  for (let i = 0; i + 1 < code.runs.length; i += 2) {
    pairs.push([code.runs[i], code.runs[i + 1]]);
    sum += code.runs[i];
  }
  if (sum < code.text.length) pairs.push([code.text.length - sum, 0]);
  return pairs;
}

// saveProgram saves a program's text as it is.
function saveProgram(name, code) {
  save(name + '.txt', 'text/plain', code.text);
}

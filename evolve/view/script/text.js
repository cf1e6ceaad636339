// Programs and messages come from models and candidates. Characters in them that are invisible, or that reorder
// letters, are shown by their code points.
const UNSEEN = new RegExp(
  '[\\u0000-\\u0008\\u000b-\\u001f\\u007f-\\u009f\\u00ad\\u034f\\u061c\\u115f\\u1160\\u17b4\\u17b5\\u180b-\\u180f' +
  '\\u200b-\\u200f\\u2028-\\u202e\\u2060-\\u206f\\u2800\\u3164\\ufe00-\\ufe0f\\ufeff\\uffa0\\ufff0-\\ufffb' +
  '\\ud800-\\udfff]|[\\u{e0000}-\\u{e0fff}]', 'gu');

// visible returns s with lines and tabs unchanged, and all other invisible characters shown.
function visible(s) {
  return String(s).replace(/\r\n/g, '\n').replace(UNSEEN,
    c => '\u2039U+' + c.codePointAt(0).toString(16).toUpperCase().padStart(4, '0') + '\u203a');
}

// oneLine returns s in one line of at most limit characters.
function oneLine(s, limit = 300) {
  const cut = String(s).length > limit ? String(s).slice(0, limit) + '\u2026' : String(s);
  return visible(cut.replace(/\s+/g, ' ').trim());
}

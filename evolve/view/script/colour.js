// Colours that people with any colour vision tell apart (Okabe and Ito), and the theme's, which the style sheet has.

const PALETTE = ['#0072b2', '#d55e00', '#009e73', '#cc79a7', '#e69f00', '#56b4e9'];

// armColour returns the colour of a search. There are six; from the seventh on lines are dashed, too.
function armColour(arm) {
  return PALETTE[((arm % PALETTE.length) + PALETTE.length) % PALETTE.length];
}

// armDash returns the dashes of a search's line.
function armDash(arm) {
  return [[], [6, 3], [2, 3], [8, 3, 2, 3]][Math.floor(arm / PALETTE.length) % 4];
}

// theme returns the style sheet's current colours: light, dark, or for paper.
function theme() {
  const style = getComputedStyle(document.documentElement);
  const of = name => style.getPropertyValue('--' + name).trim();
  return { ink: of('ink'), soft: of('soft'), line: of('line'), paper: of('card'), accent: of('accent'), bad: of('bad'),
    edge: of('edge') };
}

// shade returns a colour of a scale from 0 to 1 that is readable in light and dark: blue over green to yellow, without
// the white end in which the best would vanish.
function shade(t) {
  const stops = [[46, 60, 120], [0, 114, 178], [0, 158, 115], [153, 190, 60], [240, 205, 60]];
  const at = Math.min(Math.max(t, 0), 1) * (stops.length - 1);
  const i = Math.min(Math.floor(at), stops.length - 2);
  const mix = stops[i].map((a, k) => Math.round(a + (stops[i + 1][k] - a) * (at - i)));
  // where white and black are equally far from it
  return { css: 'rgb(' + mix.join(',') + ')', dark: luminance(mix) < 0.18 };
}

// luminance returns a colour's relative luminance, from 0 to 1 (WCAG 2.2).
function luminance(rgb) {
  const [r, g, b] = rgb.map(v => v / 255).map(v => v <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4);
  return 0.2126 * r + 0.7152 * g + 0.0722 * b;
}

package standin

import "regexp"

// An idiom is one of [mutate.Idioms], as prompts speak of it and as it looks in a program.
type idiom struct {
	name         string
	spoken, code *regexp.Regexp
}

// idioms are in the order of [mutate.Idioms].
var idioms = []idiom{
	newIdiom("a condition", `conditions?\b|conditional|\bbranch|\bthreshold`, `\?[^.?]|\bif\b`),
	newIdiom("a difference", `differences?\b|subtract`, `[\w)\]] - `),
	newIdiom("a sum", `\bsums?\b|\badd(ing|s)?\b`, `\+`),
	newIdiom("a product", `\bproducts?\b|multipl`, `\*`),
	newIdiom("a ratio", `\bratios?\b|\bdivi(d|s)`, `[\w)\]] / `),
	newIdiom("a minimum", `\bminimum\b|Math\.min`, `Math\.min`),
	newIdiom("a maximum", `\bmaximum\b|Math\.max`, `Math\.max`),
	newIdiom("an absolute value", `\babsolute|Math\.abs`, `Math\.abs`),
	newIdiom("a square root", `\bsquare roots?\b|Math\.sqrt`, `Math\.sqrt`),
	newIdiom("an exponential", `\bexponential|Math\.exp`, `Math\.exp`),
	newIdiom("a logarithm", `\blogarithm|Math\.log`, `Math\.log`),
	newIdiom("a power", `\bpowers?\b|Math\.pow`, `Math\.pow|\*\*`),
}

func newIdiom(name, spoken, code string) idiom {
	return idiom{name, regexp.MustCompile("(?i)" + spoken), regexp.MustCompile(code)}
}

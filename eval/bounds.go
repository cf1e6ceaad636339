package eval

import (
	"maps"
	"math"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/evoalloc/evoalloc/internal/printable"
)

// The bounds of what [Result.Clean] keeps of a result. A program can make a result as large as it likes, and a
// journal keeps it for every program. Lengths are in bytes.
const (
	MaxReason        = 2 << 10   // of the reason
	MaxName          = 200       // of the name of a metric or an artifact
	MaxMetrics       = 1000      // the number of metrics
	maxArtifacts     = 100       // the number of artifacts
	MaxArtifact      = 64 << 10  // of one artifact
	MaxArtifactBytes = 256 << 10 // of all artifacts and their names
	MaxCases         = 10_000    // the number of cases
)

// boundedReason returns reason in one line, fit for a terminal, of at most MaxReason bytes.
func boundedReason(reason string) string {
	line := printable.Line(reason)
	if len(line) <= MaxReason {
		return line
	}
	const more = " ..."
	return strings.TrimRight(line[:boundary(line, MaxReason-len(more))], " ") + more
}

// boundedMetrics returns m without values that are not finite and names that are too long. It keeps the first
// MaxMetrics of the rest by name, so that equal programs keep equal metrics. It returns m itself if nothing is left
// out.
func boundedMetrics(m map[string]float64) map[string]float64 {
	fits := func(name string, v float64) bool {
		return len(name) <= MaxName && !math.IsNaN(v) && !math.IsInf(v, 0)
	}
	all := len(m) <= MaxMetrics
	for name, v := range m {
		all = all && fits(name, v)
	}
	if all {
		return m
	}
	out := make(map[string]float64, min(len(m), MaxMetrics))
	for _, name := range slices.Sorted(maps.Keys(m)) {
		if v := m[name]; fits(name, v) && len(out) < MaxMetrics {
			out[name] = v
		}
	}
	return out
}

// boundedCases returns the first MaxCases of cases, and nil for none, as JSON decoding does.
func boundedCases(cases []float64) []float64 {
	if len(cases) == 0 {
		return nil
	}
	return slices.Clip(cases[:min(len(cases), MaxCases)])
}

// boundedArtifacts returns m without artifacts whose names are too long. It keeps of the rest, by name, as many
// as are allowed and fit into MaxArtifactBytes, each cut to MaxArtifact. It returns m itself if nothing is left
// out or cut.
func boundedArtifacts(m map[string]string) map[string]string {
	all, size := len(m) <= maxArtifacts, 0
	for name, text := range m {
		size += len(name) + len(text)
		all = all && len(name) <= MaxName && len(text) <= MaxArtifact && utf8.ValidString(text)
	}
	if all && size <= MaxArtifactBytes {
		return m
	}
	out, left := make(map[string]string), MaxArtifactBytes
	for _, name := range slices.Sorted(maps.Keys(m)) {
		text := cutMiddle(strings.ToValidUTF8(m[name], "\ufffd"), MaxArtifact)
		if size := len(name) + len(text); len(name) <= MaxName && size <= left && len(out) < maxArtifacts {
			out[name] = text
			left -= size
		}
	}
	return out
}

// cutMiddle returns at most limit bytes of s: its beginning, a mark, and its end. The end of a traceback is the most
// useful part, and often the beginning of a program's output.
func cutMiddle(s string, limit int) string {
	if len(s) <= limit {
		return s
	}
	const between = "\n...\n"
	half := (limit - len(between)) / 2
	end := len(s) - half
	for !utf8.RuneStart(s[end]) {
		end++
	}
	return s[:boundary(s, half)] + between + s[end:]
}

// boundary returns the largest index up to n at which a character of s begins.
func boundary(s string, n int) int {
	for n > 0 && !utf8.RuneStart(s[n]) {
		n--
	}
	return n
}

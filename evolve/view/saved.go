package view

import (
	"cmp"
	"slices"
)

// savedText bounds the bytes of programs in a saved report: those of the champion's line, then the best, then others by
// score. runState.Omitted counts those that do not fit.
const savedText = 4 << 20

// mostSavedColours bounds the bytes of them that are coloured, as a lexer takes microseconds per byte.
const mostSavedColours = 128 << 10

// Saved returns the whole runState for a report, with programs.
func (l *runLog) Saved() runState {
	s := l.State(rowCursor{})
	keys, omitted := l.fitting(savedOrder(s))
	s.Omitted = omitted
	texts, colours := l.texts(keys), 0
	for _, key := range keys {
		text, ok := texts[key]
		switch {
		case !ok:
			s.Omitted++
		case colours+len(text) > mostSavedColours:
			s.Programs[key] = programText{Text: text}
		default:
			colours += len(text)
			s.Programs[key] = l.coloured(key, text)
		}
	}
	return s
}

// fitting returns the keys whose texts fit into a report, each once, and how many do not fit or have no text.
func (l *runLog) fitting(keys []string) (fit []string, omitted int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	seen, room := map[string]bool{"": true}, savedText
	for _, key := range keys {
		if seen[key] {
			continue
		}
		seen[key] = true
		p := l.programs.all[key]
		if !p.told || p.size > room {
			omitted++
			continue
		}
		room -= p.size
		fit = append(fit, key)
	}
	return fit, omitted
}

// savedOrder returns the keys of a runState's programs, the most important first. A key may occur twice.
func savedOrder(s runState) (keys []string) {
	for _, step := range s.Line {
		keys = append(keys, step.Program)
	}
	for _, row := range s.Best {
		keys = append(keys, s.Children.Program[row])
	}
	for _, a := range s.Arms {
		keys = append(keys, a.Program)
	}
	rest := make([]int, len(s.Children.Program))
	for i := range rest {
		rest[i] = i
	}
	slices.SortStableFunc(rest, func(a, b int) int { return compareScores(s.Children.Score[b], s.Children.Score[a]) })
	for _, row := range rest {
		keys = append(keys, s.Children.Program[row])
	}
	return keys
}

// compareScores orders scores, missing ones first.
func compareScores(a, b *float64) int {
	switch {
	case a == nil || b == nil:
		return cmp.Compare(presence(a), presence(b))
	default:
		return cmp.Compare(*a, *b)
	}
}

func presence(score *float64) int {
	if score == nil {
		return 0
	}
	return 1
}

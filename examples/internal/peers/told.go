package peers

import (
	"fmt"
	"slices"
	"unicode/utf8"

	"github.com/evoalloc/evoalloc/evolve"
	"github.com/evoalloc/evoalloc/evolve/population"
	"github.com/evoalloc/evoalloc/task"
)

// simplifyAfter is how many letters a program has that OpenEvolve asks to simplify.
const simplifyAfter = 500

// told returns the sections of a prompt of OpenEvolve's besides programs: what became of the island's best three, and
// areas to improve.
//
// Source: openevolve/prompt/sampler.py, _format_evolution_history and _identify_improvement_areas.
func told(v *population.View, parent *resident, best []*resident) []task.Section {
	var lines []string
	for _, r := range slices.Backward(best) {
		if line := became(v, r.Member); line != "" {
			lines = append(lines, line)
		}
	}
	attempts := task.Attempts(lines...)
	attempts.Stable = true // as long as the best are
	return []task.Section{attempts, {Name: task.ShowAreas, Title: "Areas to improve", Lines: areas(parent, best)}}
}

// became returns what became of a program, or "" if what it was made of is not known any more.
func became(v *population.View, m *population.Member) string {
	if len(m.Parents) == 0 {
		return ""
	}
	of, ok := v.Lookup(m.Parents[0])
	if !ok {
		return ""
	}
	b := population.Birth{Child: evolve.Child{Candidate: m.Candidate, Operator: m.Operator}, Parent: of}
	line := b.Attempt()
	if higher, lower := against(m.Result.Metrics, of.Result.Metrics); higher+lower > 1 {
		line += fmt.Sprintf("; %d metrics rose and %d fell", higher, lower)
	}
	return line
}

// against counts the metrics that are higher and lower than those of the same name.
func against(now, before map[string]float64) (higher, lower int) {
	for name, x := range now {
		switch y := before[name]; {
		case x > y:
			higher++
		case x < y:
			lower++
		}
	}
	return higher, lower
}

// areas returns how the parent compares with the last of the best, and whether it is long.
func areas(parent *resident, best []*resident) (list []string) {
	if len(best) > 0 {
		before, now := best[len(best)-1].Result.Score, parent.Result.Score
		switch {
		case now > before:
			list = append(list, fmt.Sprintf("The score rose: %.4f → %.4f.", before, now))
		case now < before:
			list = append(list, fmt.Sprintf("The score fell: %.4f → %.4f. Think again about the last changes.", before, now))
		default:
			list = append(list, fmt.Sprintf("The score is as it was, %.4f.", now))
		}
	}
	if utf8.RuneCountInString(parent.Program) > simplifyAfter {
		list = append(list, fmt.Sprintf("The program has more than %d letters: think about a simpler one.", simplifyAfter))
	}
	return list
}

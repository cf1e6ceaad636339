package folder

import (
	"fmt"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"
)

// used returns the keys that have a meaning here, by section; a section is a key of the top too.
func used() map[string][]string {
	return map[string][]string{
		"": {"prompt", "llm", "evaluator", "language", "file_suffix", "diff_based_evolution",
			"enforce_evolve_blocks"},
		"llm":       {"system_message"},
		"prompt":    {"system_message", "include_artifacts", "max_artifact_bytes"},
		"evaluator": {"timeout", "memory_limit_mb", "cascade_evaluation", "cascade_thresholds"},
	}
}

// warn lists the keys that have no effect. Most are another project's settings, for parts that are configured elsewhere
// here. A key that resembles one of ours is likely misspelt, and has a warning of its own.
func (s *settings) warn(top *mapping) error {
	var idle, twice, misspelt []string
	schema := used()
	check := func(section string, m *mapping) {
		twice = append(twice, m.twice...)
		for _, name := range m.names {
			key := m.path + name
			if slices.Contains(schema[section], name) {
				continue
			}
			if near := meant(name, schema[section]); near != "" {
				misspelt = append(misspelt,
					fmt.Sprintf("line %d: %s is not a setting: is %s%s meant?", keyLine(m.values[name]), key, m.path, near))
			} else {
				idle = append(idle, key)
			}
		}
	}
	check("", top)
	for _, name := range top.names {
		if schema[name] == nil {
			continue
		}
		m, err := top.mapping(name)
		if err != nil {
			return err
		}
		check(name, m)
	}
	if len(idle) > 0 {
		s.warnings = append(s.warnings, "not used here: "+strings.Join(idle, ", "))
	}
	for _, key := range twice {
		s.warnings = append(s.warnings, key+" is given more than once: the last counts")
	}
	s.warnings = append(s.warnings, misspelt...)
	return nil
}

// keyLine returns the line of a value, which is close to that of its key.
func keyLine(n *yaml.Node) int { return n.Line }

// meant returns the key that name resembles, or "" if it resembles none.
func meant(name string, keys []string) string {
	best, least := "", 3
	for _, k := range keys {
		if d := distance(name, k); d < least && len(name) >= 4 {
			best, least = k, d
		}
	}
	return best
}

// distance returns the number of letters to insert, delete or replace to turn b into a.
func distance(a, b string) int {
	if max(len(a), len(b)) > 100 {
		return 100
	}
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		corner := row[0]
		row[0] = i + 1
		for j := range len(b) {
			d := corner
			if a[i] != b[j] {
				d = 1 + min(corner, row[j], row[j+1])
			}
			corner, row[j+1] = row[j+1], d
		}
	}
	return row[len(b)]
}

package folder

import (
	"slices"
	"testing"
)

// Settings in a file that is not read are named in a warning.
func TestUnreadSettings(t *testing.T) {
	const settings = "max_iterations: 100\nprompt:\n  system_message: Pack circles.\nevaluator: {timeout: 60}\n"
	for _, tt := range []struct {
		reason string
		files  []string
		cfg    Config
		want   []string
	}{
		{"a file for each phase, and no config.yaml", []string{"config_phase_1.yaml", settings, "config_phase_2.yml",
			settings}, Config{},
			[]string{"settings that are not read: config_phase_1.yaml, config_phase_2.yml; only config.yaml is: rename one, or name it in Config.Settings"}},
		{"beside a config.yaml", []string{"config.yaml", "language: python\n", "fast.yaml", "evaluator: {timeout: 1}\n"},
			Config{},
			[]string{"settings that are not read: fast.yaml; config.yaml is: name another in Config.Settings"}},
		{"one is chosen, so the others are not passed over",
			[]string{"config.yaml", "language: python\n", "fast.yaml", "evaluator: {timeout: 1}\n"},
			Config{Settings: "fast.yaml"}, nil},
		{"test cases", []string{"cases.yaml", "- {input: 1, output: 2}\n", "more.yaml", "first: {input: 1}\n"}, Config{},
			nil},
		{"no YAML, and more than is read", []string{"a.yaml", "a: [\n", "b.yaml", "evaluator: 1\n---\nb: 2\n"}, Config{},
			nil},
	} {
		dir := write(t, append([]string{"initial_program.py", "x = 1\n", "evaluator.py", "def evaluate(p): return {}\n"},
			tt.files...)...)
		f, err := Read(dir, tt.cfg)
		if err != nil {
			t.Errorf("%s: %v", tt.reason, err)
			continue
		}
		if !slices.Equal(f.Warnings, tt.want) {
			t.Errorf("%s: warnings %q, want %q", tt.reason, f.Warnings, tt.want)
		}
	}
}

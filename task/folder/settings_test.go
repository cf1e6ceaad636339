package folder

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

func TestSettings(t *testing.T) {
	tests := []struct {
		config       string
		get          func(*Folder) any
		want         any
		reason       string
		wantWarnings []string
	}{
		{"", func(f *Folder) any { return f.Spec.Diffs }, true, "an empty file says what OpenEvolve's defaults say", nil},
		{"# nothing\n", func(f *Folder) any { return f.Spec.System }, defaultSystem, "a comment says nothing", nil},
		{"diff_based_evolution: false", func(f *Folder) any { return f.Spec.Diffs }, false, "complete programs", nil},
		{"diff_based_evolution: off", func(f *Folder) any { return f.Spec.Diffs }, false,
			"YAML 1.1's words, as OpenEvolve reads them", nil},
		{"diff_based_evolution: False", func(f *Folder) any { return f.Spec.Diffs }, false, "Python's word", nil},
		{"diff_based_evolution: null", func(f *Folder) any { return f.Spec.Diffs }, true, "null is not said", nil},
		{"language: ~\nfile_suffix:", func(f *Folder) any { return f.Spec.Language + f.Spec.Ext }, "python.py",
			"null is not said", nil},
		{"file_suffix: r", func(f *Folder) any { return f.Evaluation.Suffix + f.Spec.Ext }, ".r.r",
			"a dot that was forgotten", nil},
		{"prompt: {system_message: system_message}\nllm: {system_message: A}", func(f *Folder) any { return f.Spec.System },
			"A",
			"the name of OpenEvolve's template is no message", nil},
		{"prompt: {system_message: B}\nllm: {system_message: A}", func(f *Folder) any { return f.Spec.System }, "B",
			"prompt's goes first", []string{"config.yaml: prompt.system_message and llm.system_message differ: the first counts"}},
		{"prompt: {system_message: B}\nllm: {system_message: B}", func(f *Folder) any { return f.Spec.System }, "B",
			"twice the same", nil},
		{"prompt: {system_message: ' '}", func(f *Folder) any { return f.Spec.System }, defaultSystem,
			"a blank message is none", nil},
		{"prompt: {system_message: \"${HOME}\"}", func(f *Folder) any { return f.Spec.System }, "${HOME}",
			"nothing is read from the environment", nil},
		{"prompt: {max_artifact_bytes: 10}", func(f *Folder) any { return f.Spec.Feedback }, 10, "as much as is said", nil},
		{"evaluator: {timeout: 0.5}", func(f *Folder) any { return f.Evaluation.Timeout }, 500 * time.Millisecond,
			"half a second", nil},
		{"evaluator:\n", func(f *Folder) any { return f.Evaluation.Timeout }, defaultTimeout, "an empty section", nil},
		{"evaluator: {cascade_thresholds: []}", func(f *Folder) any { return fmt.Sprint(f.Evaluation.Thresholds) }, "[]",
			"no second stage", nil},
		{"evaluator: {cascade_thresholds: [1.4, 2]}", func(f *Folder) any { return fmt.Sprint(f.Evaluation.Thresholds) },
			"[1.4 2]", "beyond 1", nil},
		{"evaluator: {cascade_evaluation: false}", func(f *Folder) any { return f.Evaluation.NoCascade }, true, "turned off",
			nil},
		{"evaluator: {timeout: 5, timeout: 7}", func(f *Folder) any { return f.Evaluation.Timeout }, 7 * time.Second,
			"Python takes the last of two", []string{"config.yaml: evaluator.timeout is given more than once: the last counts"}},
		{"evaluator: &e {timeout: 5, cascade_evaluation: false}\nhierarchical: *e",
			func(f *Folder) any { return f.Evaluation.NoCascade }, true, "an alias",
			[]string{"config.yaml: not used here: hierarchical"}},
		{"base: &b {timeout: 5, cascade_evaluation: false}\nevaluator:\n  timeout: 7\n  <<: *b",
			func(f *Folder) any { return fmt.Sprint(f.Evaluation.NoCascade, f.Evaluation.Timeout) }, "true 7s",
			"what is merged does not override", []string{"config.yaml: not used here: base"}},
		{"enforce_evolve_blocks: false", func(f *Folder) any { return f.Spec.IgnoreMarkers }, true,
			"without markers there is nothing to warn of", nil},
		{"enforce_evolve_blocks: true", func(f *Folder) any { return f.Spec.IgnoreMarkers }, false, "as here by default",
			nil},
		{"llm: {api_key: sk-1234, sistem_message: sk-5678}", func(f *Folder) any { return "" }, "",
			"no warning shows a value",
			[]string{"config.yaml: not used here: llm.api_key",
				"config.yaml: line 1: llm.sistem_message is not a setting: is llm.system_message meant?"}},
		{"island: 3\ndatabase: {islands: 3}", func(f *Folder) any { return "" }, "",
			"of a section that is not used, its name",
			[]string{"config.yaml: not used here: island, database"}},
	}
	for _, tt := range tests {
		f, err := Read(with(t, tt.config), Config{})
		if err != nil {
			t.Errorf("%q: %v: %s", tt.config, err, tt.reason)
			continue
		}
		if got := tt.get(f); got != tt.want {
			t.Errorf("%q: got %v, want %v: %s", tt.config, got, tt.want, tt.reason)
		}
		if !slices.Equal(f.Warnings, tt.wantWarnings) {
			t.Errorf("%q: warnings %q, want %q: %s", tt.config, f.Warnings, tt.wantWarnings, tt.reason)
		}
	}
}

func TestSettingsErrors(t *testing.T) {
	tests := []struct{ config, want, reason string }{
		{"evaluator:\n  timeout: soon",
			`config.yaml: line 2: evaluator.timeout is "soon": need a number from 0.001 to 2.592e+06`, "no number"},
		{"evaluator: {timeout: 0}", "evaluator.timeout is \"0\"", "no time at all"},
		{"evaluator: {timeout: -1}", "evaluator.timeout is \"-1\"", "less than none"},
		{"evaluator: {timeout: .nan}", "evaluator.timeout is \".nan\"", "not finite"},
		{"evaluator: {timeout: [1]}", "evaluator.timeout is a list or mapping", "not one number"},
		{"evaluator: {cascade_evaluation: maybe}", "evaluator.cascade_evaluation is \"maybe\": need true or false",
			"neither"},
		{"evaluator: {cascade_thresholds: 0.5}", "evaluator.cascade_thresholds is \"0.5\": need a list of finite numbers",
			"not a list"},
		{"evaluator: {cascade_thresholds: [0.5, high]}",
			"evaluator.cascade_thresholds is a list or mapping: need a list of finite numbers", "no number"},
		{"evaluator: {cascade_thresholds: [.inf]}", "need a list of finite numbers", "not finite"},
		{"evaluator: 3", "line 1: evaluator is not a mapping", "not a section"},
		{"- a\n", "line 1: the file is not a mapping", "a list"},
		{"language: [a]", "language is a list or mapping: need text", "not one word"},
		{"a: b: c", "config.yaml: yaml: ", "not YAML"},
		{"a: 1\n---\nb: 2\n", "more than one document", "which one?"},
		{"[a]: 1", "line 1: a name in the file is not text", "no name"},
		{"x: \x00", "config.yaml: yaml: ", "control signs"},
		{"prompt: &p\n  <<: *p\n", "more than 100 mappings are merged", "merged into itself"},
		{bomb(), "more than 100 mappings are merged", "aliases of aliases"},
	}
	for _, tt := range tests {
		_, err := Read(with(t, tt.config), Config{})
		if err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%.100q: error %v, want one with %s: %s", tt.config, err, tt.want, tt.reason)
		}
	}
}

// bomb is a mapping that merges 10^9 others, in ten lines.
func bomb() string {
	var b strings.Builder
	b.WriteString("a0: &a0 {x: 1}\n")
	for i := range 9 {
		fmt.Fprintf(&b, "a%d: &a%d {<<: [%s]}\n", i+1, i+1,
			strings.TrimSuffix(strings.Repeat(fmt.Sprintf("*a%d,", i), 10), ","))
	}
	return b.String() + "prompt: {<<: *a9}\n"
}

func TestMarkersOff(t *testing.T) {
	dir := write(t, "initial_program.py", "# EVOLVE-BLOCK-START\nx = 1\n# EVOLVE-BLOCK-END\n", "evaluator.py", "",
		"config.yaml", "enforce_evolve_blocks: false")
	f, err := Read(dir, Config{})
	if err != nil || len(f.Warnings) != 1 || !strings.Contains(f.Warnings[0], "may change what lies outside") {
		t.Errorf("%+v, %v: not enforced, and said so", f, err)
	}
}

func TestDistance(t *testing.T) {
	tests := []struct {
		a, b string
		want int
	}{{"", "", 0}, {"", "abc", 3}, {"abc", "", 3}, {"kitten", "sitting", 3}, {"timeout", "time_out", 1},
		{"flaw", "lawn", 2}, {"same", "same", 0}}
	for _, tt := range tests {
		if got := distance(tt.a, tt.b); got != tt.want {
			t.Errorf("distance(%q, %q) = %d, want %d", tt.a, tt.b, got, tt.want)
		}
	}
}

// Whatever a config.yaml holds, there is a folder or a reason, and what there is makes sense.
func FuzzSettings(f *testing.F) {
	for _, dir := range []string{"regress", "tour", "mixture"} {
		text, err := os.ReadFile(filepath.Join("testdata", dir, "config.yaml"))
		if err != nil {
			f.Fatal(err)
		}
		f.Add(string(text))
	}
	f.Add(bomb())
	f.Add("a: &a [*a]\nevaluator: {timeout: *a}")
	f.Add("evaluator: &e {cascade_thresholds: [*e]}\n<<: *e")
	f.Fuzz(func(t *testing.T, text string) {
		s := settings{timeout: defaultTimeout}
		if err := s.parse(text); err != nil {
			return
		}
		if s.timeout <= 0 || s.feedback < 0 || s.memory < 0 || s.suffix != "" && s.suffix[0] != '.' {
			t.Fatalf("%q: %+v", text, s)
		}
	})
}

package folder

import (
	"errors"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/evoalloc/evoalloc/task"
)

// write makes a folder of files, given as name and text in turn.
func write(t *testing.T, files ...string) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "my task")
	if err := os.Mkdir(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	for i := 0; i < len(files); i += 2 {
		path := filepath.Join(dir, filepath.FromSlash(files[i]))
		if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o755),
			os.WriteFile(path, []byte(files[i+1]), 0o644)); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// with makes a folder with a program, an evaluator and a config.yaml.
func with(t *testing.T, config string) string {
	t.Helper()
	return write(t, "initial_program.py", "x = 1\n", "evaluator.py", "def evaluate(p): return {}\n", "config.yaml", config)
}

func TestReadTestdata(t *testing.T) {
	tests := []struct {
		dir        string
		spec       task.Spec
		evaluation Evaluation
		warnings   []string
		reason     string
	}{
		{"bins",
			task.Spec{Name: "bins", Language: "python", System: defaultSystem, Ext: ".py", Feedback: 20480},
			Evaluation{Suffix: ".py", Timeout: defaultTimeout, Thresholds: []float64{0.5, 0.75, 0.9}},
			nil, "without a config.yaml, replies are complete programs"},
		{"regress",
			task.Spec{Name: "regress", Language: "python", Ext: ".py", Feedback: 4096, Diffs: true,
				System: "You find formulas for measurements.\nThe formula is the function model(x)."},
			Evaluation{Suffix: ".py", Timeout: 20 * time.Second, Memory: 512 << 20, NoCascade: true,
				Thresholds: []float64{0.5, 0.75, 0.9}},
			[]string{
				"config.yaml: prompt.system_message and llm.system_message differ: the first counts",
				"config.yaml: not used here: max_iterations, checkpoint_interval, log_level, database, max_code_length, " +
					"llm.models, llm.api_base, llm.api_key, llm.temperature, prompt.num_top_programs, " +
					"evaluator.parallel_evaluations",
				"config.yaml: line 32: evaluator.time_out is not a setting: is evaluator.timeout meant?",
			}, "the settings that there are, and what has no effect"},
		{"tour",
			task.Spec{Name: "tour", Language: "python", System: "You write heuristics for round tours.", Ext: ".py",
				Feedback: 20480},
			Evaluation{Suffix: ".py", Timeout: 30 * time.Second, Thresholds: []float64{0.3, 0.4}},
			nil, "initial.py; thresholds"},
		{"mixture",
			task.Spec{Name: "mixture", Language: "json", System: "You mix concrete. Reply with JSON.", Ext: ".json"},
			Evaluation{Suffix: ".json", Timeout: defaultTimeout, Thresholds: []float64{0.5, 0.75, 0.9}},
			[]string{"file_suffix is .py, but the initial program's is .json, which counts"},
			"llm.system_message; no artifacts; a default that somebody copied"},
	}
	for _, tt := range tests {
		t.Run(tt.dir, func(t *testing.T) {
			dir := filepath.Join("testdata", tt.dir)
			f, err := Read(dir, Config{})
			if err != nil {
				t.Fatal(err)
			}
			name, _ := filepath.Glob(filepath.Join(dir, "initial*"))
			initial, err := os.ReadFile(name[0])
			if err != nil {
				t.Fatal(err)
			}
			tt.spec.Initial = string(initial)
			if tt.evaluation.Dir, err = filepath.Abs(dir); err != nil {
				t.Fatal(err)
			}
			if !reflect.DeepEqual(f.Spec, tt.spec) {
				t.Errorf("%s: Spec\n%+v, want\n%+v", tt.reason, f.Spec, tt.spec)
			}
			if !reflect.DeepEqual(f.Evaluation, tt.evaluation) {
				t.Errorf("%s: Evaluation\n%+v, want\n%+v", tt.reason, f.Evaluation, tt.evaluation)
			}
			if !reflect.DeepEqual(f.Warnings, tt.warnings) {
				t.Errorf("%s: Warnings\n%q, want\n%q", tt.reason, f.Warnings, tt.warnings)
			}
		})
	}
}

func TestReadErrors(t *testing.T) {
	const program, evaluator = "x = 1\n", "def evaluate(p): return {}\n"
	tests := []struct {
		files        []string
		cfg          Config
		want, reason string
	}{
		{nil, Config{}, "there is no initial_program.<ending> (nor initial.<ending>, initial_prompt.<ending> or a folder initial_program), only nothing", "an empty folder"},
		{[]string{"evaluator.py", evaluator, "program.py", program}, Config{}, "only evaluator.py, program.py",
			"another name: what there is"},
		{[]string{"initial_program.py", program, "initial.py", program, "evaluator.py", evaluator}, Config{},
			"there are 2 initial programs, initial.py, initial_program.py: choose one with Config.Initial", "which one?"},
		{[]string{"initial_program.py", program, "initial_program.rs", program, "evaluator.py", evaluator}, Config{},
			"there are 2 initial programs, initial_program.py, initial_program.rs", "which one?"},
		{[]string{"initial_program", program, "evaluator.py", evaluator}, Config{}, "there is no initial_program.<ending>",
			"candidates need an ending"},
		{[]string{"initial_program.py", program}, Config{}, "there is no evaluator.py, only initial_program.py",
			"nothing to score with"},
		{[]string{"initial.py", program, "evaluate.py", "def main(program_path, results_dir): pass"}, Config{},
			"evaluate.py, ShinkaEvolve's form, is called otherwise", "another form: what to do"},
		{[]string{"initial_program.py", " \n", "evaluator.py", evaluator}, Config{}, "initial_program.py is empty",
			"nothing to start from"},
		{[]string{"initial_program.py", "x\xff", "evaluator.py", evaluator}, Config{}, "initial_program.py is not UTF-8",
			"models write text"},
		{[]string{"initial_program.py", strings.Repeat("x\n", maxProgram/2+1), "evaluator.py", evaluator}, Config{},
			"initial_program.py is larger than 4194304 bytes", "no prompt holds that"},
		{[]string{"initial_program.py", program, "evaluator.py", evaluator, "config.yaml", "", "config.yml", ""}, Config{},
			"there are config.yaml and config.yml", "which one?"},
		{[]string{"initial_program.py", program, "evaluator.py", evaluator}, Config{Settings: "config_phase_2.yaml"},
			"there is no config_phase_2.yaml, only evaluator.py, initial_program.py", "chosen, but not there"},
		{[]string{"initial_program.py", program, "evaluator.py", evaluator}, Config{Initial: "other.py"},
			"there is no other.py", "chosen, but not there"},
		{[]string{"initial_program.py", program, "evaluator.py", evaluator, "other", program}, Config{Initial: "other"},
			"other has no ending", "candidates need an ending"},
	}
	for _, tt := range tests {
		dir := write(t, tt.files...)
		_, err := Read(dir, tt.cfg)
		if err == nil || !strings.HasPrefix(err.Error(), "folder: "+dir+": ") || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%q: error %v, want one with %s: %s", tt.files, err, tt.want, tt.reason)
		}
	}
	for _, dir := range []string{filepath.Join(t.TempDir(), "no"), "folder_test.go"} {
		if _, err := Read(dir, Config{}); err == nil || strings.Count(err.Error(), dir) != 1 {
			t.Errorf("Read(%q): %v", dir, err)
		}
	}
}

func TestReadChooses(t *testing.T) {
	dir := write(t, "initial_program.py", "\ufeffx = 1\r\n", "initial_program.py~", "old", "initial_program.py.bak",
		"older", "initial.swp", "",
		"initial_program", "x", "evaluator.py", "", "other.cc", "int x;", "config.yaml", "language: rust", "config_2.yaml",
		"")
	f, err := Read(dir, Config{})
	if err != nil {
		t.Fatal(err)
	}
	if f.Spec.Initial != "x = 1\r\n" || f.Spec.Name != "my-task" || f.Spec.Language != "rust" {
		t.Errorf("%+v: copies that editors make do not count, nor do byte order marks; the folder has a space in its name",
			f.Spec)
	}
	f, err = Read(dir, Config{Initial: "other.cc", Settings: "config_2.yaml", Name: "x"})
	if err != nil {
		t.Fatal(err)
	}
	if f.Spec.Initial != "int x;" || f.Spec.Name != "x" || f.Spec.Language != "c++" || f.Evaluation.Suffix != ".cc" ||
		!f.Spec.Diffs {
		t.Errorf("%+v: what was chosen counts", f.Spec)
	}
}

func TestNameOf(t *testing.T) {
	tests := []struct{ dir, want, reason string }{
		{"/a/cp-26_v1.2", "cp-26_v1.2", "a name already"},
		{"/a/my task (2)", "my-task--2-", "signs that paths and flags do not bear"},
		{"/a/.hidden.", "hidden", "dots at the ends"},
		{"/a/größe", "größe", "letters of any script"},
		{"/", "task", "no name"},
		{"/a/...", "task", "nothing is left"},
		{"/a/" + strings.Repeat("ä", 80), strings.Repeat("ä", 50), "at most 100 bytes, in whole letters"},
	}
	for _, tt := range tests {
		if got := nameOf(tt.dir); got != tt.want {
			t.Errorf("nameOf(%q) = %q, want %q: %s", tt.dir, got, tt.want, tt.reason)
		}
	}
}

func TestFingerprint(t *testing.T) {
	base := []string{"initial_program.py", "x = 1", "evaluator.py", "import helper", "helper.py", "y = 1", "config.yaml",
		"evaluator: {timeout: 5}"}
	of := func(change ...string) string {
		f, err := Read(write(t, append(slices.Clone(base), change...)...), Config{})
		if err != nil {
			t.Fatal(err)
		}
		return f.Fingerprint
	}
	tests := []struct {
		change []string
		same   bool
		reason string
	}{
		{nil, true, "another place does not count"},
		{[]string{"initial_program.py", "x = 2"}, true, "the program that a search starts from scores nothing"},
		{[]string{"README.md", "hello", "config.yaml", "evaluator: {timeout: 5}\nlanguage: python"}, true, "nor does this"},
		{[]string{"evaluator.py", "import helper "}, false, "the evaluator"},
		{[]string{"helper.py", "y = 2"}, false, "what it may import"},
		{[]string{"more.py", ""}, false, "what it may import"},
		{[]string{"config.yaml", "evaluator: {timeout: 6}"}, false, "the limit"},
		{[]string{"config.yaml", "evaluator: {timeout: 5, cascade_thresholds: [1]}"}, false, "the thresholds"},
	}
	for _, tt := range tests {
		if got := of(tt.change...) == of(); got != tt.same {
			t.Errorf("%q: the same is %v, want %v: %s", tt.change, got, tt.same, tt.reason)
		}
	}
}

// A folder of a prompt has it in initial_prompt.txt, beside files whose names begin alike.
func TestReadsAPrompt(t *testing.T) {
	dir := write(t, "initial_prompt.txt", "Answer in one word.\n", "initial_prompt_dataset.yaml", "a: 1\n",
		"evaluator.py", "def evaluate(p): return {}\n")
	f, err := Read(dir, Config{})
	if err != nil {
		t.Fatal(err)
	}
	if f.Spec.Initial != "Answer in one word.\n" {
		t.Errorf("the initial program is %q", f.Spec.Initial)
	}
}

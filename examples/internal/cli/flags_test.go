package cli

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// configured reads a file of flags and args after it.
func configured(t *testing.T, text string, args ...string) (*Options, error) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "run.yaml")
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return parsed(append([]string{"--config", path}, args...))
}

// Flags stand in a file as well, and those of the command line win.
func TestConfig(t *testing.T) {
	const text = "# of a run\ntask: mmd\nT: 5\nN: 7\nwatch: false\ngrace: 3s\nbudget-time: 1h\nmodel: [qwen3-8b, llama-8b]\n"
	o, err := configured(t, text, "--N", "9")
	if err != nil {
		t.Fatal(err)
	}
	if got := fmt.Sprint(o.Task, o.T, o.N, o.Grace, o.budget.wall, o.Model); got != "mmd5 9 3s 1h0m0sqwen3-8b,llama-8b" {
		t.Errorf("the flags are %s", got)
	}
	if !o.Given("T") || !o.Given("N") || o.Given("breadth") {
		t.Error("flags of the file do not count as given, or others do")
	}
	if o, err := configured(t, ""); err != nil || o.N != 64 {
		t.Errorf("with an empty file N is %d, %v", o.N, err)
	}
}

// What is wrong with a file is told with its name and the line.
func TestWrongConfig(t *testing.T) {
	for _, tt := range []struct{ reason, text, want string }{
		{"no such flag", "N: 4\nbudget: 5\n", `run.yaml: line 2: bandit has no flag "budget"`},
		{"a file in a file", "config: other.yaml\n", `line 1: bandit has no flag "config"`},
		{"of one start alone", "resume: true\n", `line 1: give --resume on the command line`},
		{"twice", "N: 4\nT: 1\nN: 5\n", `line 3`},
		{"a name without a value", "journal:\nT: 1\n", `line 1: journal: need a value`},
		{"no value of this flag", "T: 1\nN: many\n", `line 2: N: `},
		{"a map", "N:\n  of: 3\n", "line 1: N: need a value, and no map"},
		{"no map at all", "- N\n", `line 1: need a line "name: value"`},
		{"no YAML", "N: [\n", "run.yaml: yaml:"},
	} {
		_, err := configured(t, tt.text)
		var usage *UsageError
		if !errors.As(err, &usage) || !strings.Contains(err.Error(), tt.want) || strings.Contains(err.Error(), "\n") {
			t.Errorf("%s: %v, want a usage error in one line with %q", tt.reason, err, tt.want)
		}
	}
	if _, err := parsed([]string{"--config", filepath.Join(t.TempDir(), "none")}); err == nil || !strings.Contains(err.Error(), "--config") {
		t.Errorf("a file that is not there: %v", err)
	}
}

func TestBudgetFlags(t *testing.T) {
	const of = "--model small,large --model-name s,l --params-active 5,9 --price"
	args := append(strings.Fields(of), "small=1,0.1,2 large=3,0.3,4", "--budget-usd", "2.5", "--budget-tokens", "700", "--budget-flops", "1e18", "--budget-time", "90m", "--target", "-3")
	o, err := parsed(args)
	if err != nil {
		t.Fatal(err)
	}
	specs, err := o.specs()
	if err != nil {
		t.Fatal(err)
	}
	models, err := o.Models(together(specs))
	if err != nil {
		t.Fatal(err)
	}
	b, err := o.Budget(models)
	if err != nil {
		t.Fatal(err)
	}
	if b.Money != 2.5 || b.Tokens != 700 || b.FLOPs != 1e18 || b.WallTime != 90*time.Minute || b.Target == nil || *b.Target != -3 || b.Calls != 8*64 {
		t.Errorf("the budget is %+v", b)
	}
	if len(b.Models) != 2 || b.Models[0].Price.Completion != 2 || b.Models[1].Price.Cached != 0.3 {
		t.Errorf("the models are %+v", b.Models)
	}
	for _, tt := range []struct{ args, want, reason string }{
		{"--budget-usd 3", "what does offline cost? Say it with --price", "money needs prices"},
		{"--budget-usd -1", "--budget-usd is -1", "there is no debt"},
		{"--budget-flops NaN", "--budget-flops is NaN", "it is no number"},
		{"--target much", `--target is "much"`, "it is no score"},
		{"--price 1,2", `--price is "1,2"`, "answers have a price, too"},
		{"--price ofline=1,2,3", `no model "ofline", but offline`, "a price that is of no model would be dropped"},
	} {
		o, err := parsed(strings.Fields(tt.args))
		if err != nil {
			t.Fatal(err)
		}
		spec := together(append(specs[:0:0], specs[0]))
		spec.Key = o.Model
		spec.Price, err = o.Price(o.Model)
		if err == nil {
			models, err = o.Models(spec)
		}
		if err == nil {
			_, err = o.Budget(models)
		}
		if usage := (*UsageError)(nil); !errors.As(err, &usage) || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: %v, want a usage error with %q: %s", tt.args, err, tt.want, tt.reason)
		}
	}
	for _, args := range []string{"--model qwen3-8b --temperature 0", "--model qwen3-8b --max-tokens 0", "--temperature 1", "--max-tokens 9"} {
		if _, err := parsed(strings.Fields(args)); err == nil {
			t.Errorf("%s is accepted", args)
		}
	}
}

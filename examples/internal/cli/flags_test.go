package cli

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/evoalloc/evoalloc/evolve"
	"github.com/evoalloc/evoalloc/evolve/books"
	"github.com/evoalloc/evoalloc/internal/runtest"
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

// A file has values in forms of its own: words for true and false, maps, and lists of what has commas.
func TestFormsOfConfig(t *testing.T) {
	o, err := configured(t, "strict: yes\nwatch: no\nstream: off\nmodel: [small, large]\nmodel-name: [s, l]\n"+
		"params-active: [5, 9]\nprice: ['small=1,0.1,2', 'large=3,0.3,4']\nextra:\n  top_k: 40\n  deep: {of: [1]}\n")
	if err != nil {
		t.Fatal(err)
	}
	if got := fmt.Sprint(o.Strict, o.Watch.On, o.Stream, " ", o.Model, " ", o.prices, " ",
		o.Extra.String()); got != `true false false small,large small=1,0.1,2 large=3,0.3,4 {"deep":{"of":[1]},"top_k":40}` {
		t.Errorf("the flags are %s", got)
	}
	path := filepath.Join(t.TempDir(), "page.yaml")
	if err := os.WriteFile(path, []byte("base: ['a', 'b,c']\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	var bases []string
	fs := NewFlags("watch", "")
	Bases(fs, &bases)
	if err := Parse(fs, []string{"--config", path}); err != nil || fmt.Sprintf("%q", bases) != `["a" "b,c"]` {
		t.Errorf("the folders are %q, %v", bases, err)
	}
}

// Numbers stand as people write them, on the command line as in a file.
func TestNumbersAsWritten(t *testing.T) {
	line, of := parsed(strings.Fields("--T 1e3 --budget-tokens 2.5e6 --budget-time 90 --grace 0.5 --model small " +
		"--model-name s --params-active 8e9"))
	file, in := configured(t, "T: 1e3\nbudget-tokens: 2.5e6\nbudget-time: 90\ngrace: 0.5\nmodel: small\nmodel-name: s\n"+
		"params-active: 8e9\n")
	for _, o := range []*Options{line, file} {
		if of != nil || in != nil {
			t.Fatal(of, in)
		}
		got := fmt.Sprint(o.T, o.budget.tokens, o.budget.wall, o.Grace, o.ActiveParams)
		if want := "1000 2500000 1m30s 500ms [8000000000]"; got != want {
			t.Errorf("%s, want %s", got, want)
		}
	}
	for text, want := range map[string]string{
		"--T 1.5":                           "need a whole number",
		"--T 1e30":                          "need a whole number",
		"--grace 5x":                        "need a time",
		"--grace NaN":                       "need a time",
		"--strict=2":                        "need true or false",
		"--temperature hot":                 "need a number",
		"--params-active 1.5":               `"1.5" is not a whole number above 0`,
		"--budgettime 3":                    "no flag --budgettime (did you mean --budget-time?",
		"--modle x":                         "no flag --modle (did you mean --model?",
		"--something-else-entirely-unknown": "(see --help-all)",
	} {
		var usage *UsageError
		if _, err := parsed(strings.Fields(text)); !errors.As(err, &usage) || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want a usage error with %q", text, err, want)
		}
	}
}

// Each of several models has its own name, number, URLs and price, and the offline one needs none.
func TestEach(t *testing.T) {
	o, err := parsed(append(strings.Fields("--model small,offline,large --model-name s,l --params-active 5,9 "+
		"--offline-latency 1s --api-base http://a/v1,large=http://b/v1 --price"), "large=1,2,3"))
	if err != nil {
		t.Fatal(err)
	}
	all, err := o.Each()
	if err != nil {
		t.Fatal(err)
	}
	got := ""
	for _, one := range all {
		price, err := one.Price(one.Model)
		if err != nil {
			t.Fatal(err)
		}
		got += fmt.Sprintln(one.Model, one.ModelName, one.ActiveParams, one.APIBase, price != nil)
	}
	if want := "small s [5] http://a/v1 false\noffline  [] http://a/v1,large=http://b/v1 false\nlarge l [9] http://b/v1 true\n"; got != want {
		t.Errorf("the models are\n%swant\n%s", got, want)
	}
	for _, args := range []string{"--model offline,offline", "--model qwen3-8b,qwen3-8b",
		"--model qwen3-8b=0.5,llama-8b=0.5", "--model qwen3-8b,offline --price llama-8b=1,1,1"} {
		o, err := parsed(strings.Fields(args))
		if err != nil {
			t.Fatal(err)
		}
		var usage *UsageError
		if _, err := o.Each(); !errors.As(err, &usage) {
			t.Errorf("%s: %v", args, err)
		}
	}
}

// The bar counts answers and not children, and stays until the end.
func TestBar(t *testing.T) {
	runtest.Output(t, func() {
		p := &Progress{deaf: func() bool { return true }}
		p.draw(2)
		for range 3 { // of which one was tuned and one failed
			p.Observe(evolve.Event{Kind: evolve.EventChild, Ledger: books.Ledger{Spent: books.Amounts{Calls: 1}}})
		}
		if n := p.bar.Current(); n != 1 {
			t.Errorf("%d calls, want 1", n)
		}
		p.Observe(evolve.Event{Kind: evolve.EventChild, Ledger: books.Ledger{Spent: books.Amounts{Calls: 2, Money: 0.25}}})
		if n := p.bar.Current(); n != 2 || p.bar.Completed() {
			t.Errorf("%d calls, want 2; gone: %v", n, p.bar.Completed())
		}
		if text := p.sofar(); text != " money 0.25 " {
			t.Errorf("the bar says %q", text)
		}
		p.Close()
	})
}

// What is wrong with a file is told with its name and the line.
func TestWrongConfig(t *testing.T) {
	for _, tt := range []struct{ reason, text, want string }{
		{"no such flag", "N: 4\nbudget: 5\n", `run.yaml: line 2: bandit has no flag --budget (did you mean --budget-usd?`},
		{"a file in a file", "config: other.yaml\n", `line 1: give --config on the command line`},
		{"of one start alone", "resume: true\n", `line 1: give --resume on the command line`},
		{"twice", "N: 4\nT: 1\nN: 5\n", `line 3`},
		{"a name without a value", "journal:\nT: 1\n", `line 1: journal: need a value`},
		{"no value of this flag", "T: 1\nN: many\n", `line 2: N: "many": need a whole number`},
		{"no time", "grace: soon\n", `line 1: grace: "soon": need a time, such as 90, 90s or 5m`},
		{"neither true nor false", "strict: perhaps\n", `line 1: strict: "perhaps": need true or false`},
		{"a second document", "T: 1\n---\nT: 2\n", "several documents"},
		{"a map", "N:\n  of: 3\n", "line 1: N: need a value, and no map"},
		{"no map at all", "- N\n", `line 1: need a line "name: value"`},
		{"no YAML", "N: [\n", "run.yaml: yaml:"},
		{"too much", "N: " + strings.Repeat("1", 4<<20), "run.yaml: it is larger than 4 MiB"},
	} {
		_, err := configured(t, tt.text)
		var usage *UsageError
		if !errors.As(err, &usage) || !strings.Contains(err.Error(), tt.want) || strings.Contains(err.Error(), "\n") {
			t.Errorf("%s: %v, want a usage error in one line with %q", tt.reason, err, tt.want)
		}
	}
	if _, err := parsed([]string{"--config", filepath.Join(t.TempDir(), "none")}); err == nil ||
		!strings.Contains(err.Error(), "--config") {
		t.Errorf("a file that is not there: %v", err)
	}
}

func TestBudgetFlags(t *testing.T) {
	const of = "--model small,large --model-name s,l --params-active 5,9 --price"
	args := append(strings.Fields(of), "small=1,0.1,2 large=3,0.3,4", "--budget-usd", "2.5", "--budget-tokens", "700",
		"--budget-flops", "1e18", "--budget-time", "90m", "--target", "-3")
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
	if b.Money != 2.5 || b.Tokens != 700 || b.FLOPs != 1e18 || b.WallTime != 90*time.Minute || b.Target == nil ||
		*b.Target != -3 || b.Calls != 8*64 {
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
	for _, args := range []string{"--model qwen3-8b --temperature 0", "--model qwen3-8b --max-tokens 0", "--temperature 1",
		"--max-tokens 9"} {
		if _, err := parsed(strings.Fields(args)); err == nil {
			t.Errorf("%s is accepted", args)
		}
	}
}

package population_test

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/evoalloc/evoalloc/bandit"
	"github.com/evoalloc/evoalloc/eval"
	"github.com/evoalloc/evoalloc/evolve"
	"github.com/evoalloc/evoalloc/evolve/population"
	"github.com/evoalloc/evoalloc/llm"
	"github.com/evoalloc/evoalloc/task"
)

// askedBy runs a search and returns the prompts of its children by operator, with the children.
func askedBy(t *testing.T, cfg population.Config, calls int) (prompts map[string][]string, children []evolve.Child) {
	t.Helper()
	bySeed := map[uint32]string{}
	tk, err := slots()
	if err != nil {
		t.Fatal(err)
	}
	if cfg.Window, cfg.N = 1, 16; cfg.Task == nil {
		cfg.Task = tk
	}
	cfg.LLM = llm.Func(func(ctx context.Context, req llm.Request) (llm.Reply, error) {
		bySeed[req.Seed] = req.Messages[1].Content
		return editor(ctx, req)
	})
	prompts = map[string][]string{}
	cfg.OnChild = func(c evolve.Child) { // a result does not keep all programs
		children = append(children, c)
		if c.Asked() {
			prompts[c.Operator] = append(prompts[c.Operator], bySeed[c.Seed])
		}
	}
	run(t, newPopulation(t, cfg), calls)
	return prompts, children
}

// askers are operators of every kind that asks a model.
func askers() []population.Operator {
	return []population.Operator{
		population.Rewrite{Label: "shown", Instruction: "Do better.", Show: func(v *population.View) []task.Section {
			return []task.Section{population.Inspirations(v.Sample(v.All.Members(), population.Uniform(), 2)...)}
		}},
		population.Explore{Directions: []string{"Go east.", "Go west."}}, population.Cross{Partners: 2},
		population.Cross{Label: "self", Self: true}, population.Repair{},
		population.Rewrite{Label: "constants",
			Instruction: "Change only the values of numeric constants of the program to raise its score."},
		population.Rewrite{Label: "one line", Instruction: "Change exactly one statement of the program to raise its score."},
	}
}

// Each operator asks for what it says, of the parents that the record names.
func TestOperatorsAsk(t *testing.T) {
	prompts, children := askedBy(t, population.Config{Archive: population.Top(6), Select: population.Uniform(),
		Policy:    bandit.Random{},
		Operators: askers()}, 300)
	for _, tt := range []struct {
		operator string
		any      []string // of which each prompt has one
		programs int      // at most
		parents  int
	}{
		{"shown", []string{"Do better."}, 3, 1},
		{"explore", []string{"Go east.", "Go west."}, 1, 1},
		{"cross", []string{"Combine the programs"}, 3, 3},
		{"self", []string{"Combine the programs"}, 2, 2},
		{"repair", []string{"Find the cause and repair it"}, 1, 1},
		{"constants", []string{"numeric constants"}, 1, 1},
		{"one line", []string{"exactly one statement"}, 1, 1},
	} {
		if len(prompts[tt.operator]) < 5 {
			t.Errorf("%s makes %d children", tt.operator, len(prompts[tt.operator]))
		}
		most := 0
		for _, p := range prompts[tt.operator] {
			if !slices.ContainsFunc(tt.any, func(s string) bool { return strings.Contains(p, s) }) {
				t.Errorf("%s asks\n%s", tt.operator, p)
			}
			most = max(most, strings.Count(p, "```text"))
		}
		if most != tt.programs {
			t.Errorf("%s shows up to %d programs, want %d", tt.operator, most, tt.programs)
		}
		parents := 0
		for _, c := range children {
			if c.Operator == tt.operator {
				parents = max(parents, len(c.Parents))
			}
		}
		if parents != tt.parents {
			t.Errorf("%s has up to %d parents, want %d", tt.operator, parents, tt.parents)
		}
	}
	for _, p := range prompts["repair"] {
		if !strings.Contains(p, "Current program, which is invalid: ") {
			t.Errorf("repair does not show why the program is invalid:\n%s", p)
		}
	}
	for _, p := range prompts["self"] {
		blocks := strings.Split(p, "```")
		if blocks[1] != blocks[3] {
			t.Errorf("self crosses two programs:\n%s", p)
		}
	}
	for _, dir := range []string{"east", "west"} {
		if !slices.ContainsFunc(prompts["explore"], func(p string) bool { return strings.Contains(p, dir) }) {
			t.Errorf("explore never goes %s", dir)
		}
	}
}

// lined is a task whose programs' parts are their lines.
type lined struct{ task.Task }

func (lined) Split(program string) []string { return strings.SplitAfter(program, "\n") }

// A child of a merge costs no call, has two parents, and its lines are theirs.
func TestMergeCombines(t *testing.T) {
	tk, err := slots()
	if err != nil {
		t.Fatal(err)
	}
	_, children := askedBy(t, population.Config{Task: lined{tk}, Archive: population.Top(12), Select: population.Uniform(),
		Policy: bandit.Shares{0.7, 0.3},
		Operators: []population.Operator{population.Rewrite{},
			&population.Merge{}}}, 150)
	programs := map[int]string{0: "0\n0\n0\n0\n0\n0"}
	merges, pairs := 0, map[string]bool{}
	for _, c := range children {
		programs[c.ID] = c.Program
		if c.Operator != "merge" {
			continue
		}
		merges++
		a, b := strings.Split(programs[c.Parents[0]], "\n"), strings.Split(programs[c.Parents[1]], "\n")
		fromA, fromB := false, false
		for i, line := range strings.Split(c.Program, "\n") {
			if line != a[i] && line != b[i] {
				t.Errorf("child %d has line %q of neither parent", c.ID, line)
			}
			fromA, fromB = fromA || line != b[i], fromB || line != a[i]
		}
		if c.Asked() || len(c.Parents) != 2 || !fromA || !fromB {
			t.Errorf("child %d of %v, asked %v: %q", c.ID, c.Parents, c.Asked(), c.Program)
		}
		pair := fmt.Sprint(min(c.Parents[0], c.Parents[1]), max(c.Parents[0], c.Parents[1]))
		if pairs[pair] {
			t.Errorf("the pair %s is merged twice", pair)
		}
		pairs[pair] = true
		if pairs[c.Program] {
			t.Errorf("%q is made twice", c.Program)
		}
		pairs[c.Program] = true
	}
	if merges < 10 {
		t.Errorf("%d merges", merges)
	}
}

// The policy learns which operator pays: one that asks for nothing useful comes to have few children.
func TestPolicyLearnsOperators(t *testing.T) {
	useless := population.Rewrite{Label: "useless", Instruction: "VERDICT"} // to which the stand-in writes no program
	prompts, _ := askedBy(t, population.Config{Archive: population.Top(4),
		Operators: []population.Operator{population.Rewrite{}, useless},
		Credit: func(b population.Birth) (float64, bool) {
			if b.Scored() && b.Result.Valid {
				return 1, true
			}
			return 0, true
		}}, 400)
	if good, bad := len(prompts["rewrite"]), len(prompts["useless"]); bad > good/3 || bad == 0 {
		t.Errorf("%d children by the operator that works and %d by the one that does not", good, bad)
	}
}

// Islands under a policy: a child is added to the island of its parent, and each breeds.
func TestIslandsBreedApart(t *testing.T) {
	parts := []population.Archive{population.Top(5), population.Top(5), population.Top(5)}
	_, children := askedBy(t, population.Config{Archive: &population.Islands{Of: parts}, Select: population.Uniform(),
		Islands: &bandit.UCB1{}}, 200)
	parent := map[int]int{}
	for _, c := range children {
		parent[c.ID] = c.Parents[0]
	}
	root := func(id int) int { // the first child of the initial program that id descends from
		for parent[id] != 0 {
			id = parent[id]
		}
		return id
	}
	of := map[int]int{}
	for i, part := range parts {
		if len(part.Members()) < 5 {
			t.Errorf("island %d has %d members", i, len(part.Members()))
		}
		for _, m := range part.Members() {
			if m.ID == 0 {
				continue
			}
			if j, ok := of[root(m.ID)]; ok && j != i {
				t.Errorf("descendants of %d are on islands %d and %d", root(m.ID), i, j)
			}
			of[root(m.ID)] = i
		}
	}
}

func TestImproved(t *testing.T) {
	parent := member(1, "p", 10)
	of := func(parent population.Member, c evolve.Child) population.Birth {
		c.Attempts = []llm.Attempt{{Status: llm.OK}}
		return population.Birth{Child: c, Parent: parent}
	}
	scored := func(score float64) evolve.Child { return evolve.Child{Candidate: member(2, "c", score).Candidate} }
	late := of(parent, evolve.Child{})
	late.Attempts = []llm.Attempt{{Status: llm.Timeout}}
	refused := scored(0)
	refused.Err, refused.Result = "refused", eval.Result{}
	for _, tt := range []struct {
		reason   string
		b        population.Birth
		improved float64
		ok       bool
	}{
		{"better", of(parent, scored(13)), 1, true},
		{"as good", of(parent, scored(10)), 0, true},
		{"worse", of(parent, scored(3)), 0, true},
		{"invalid", of(parent, evolve.Child{Candidate: invalid(2, "c").Candidate}), 0, true},
		{"no program", of(parent, evolve.Child{Err: "no program"}), 0, true},
		{"refused by a gate", of(parent, refused), 0, true},
		{"the call brought no answer", late, 0, false},
		{"mended", of(invalid(1, "p"), scored(-5)), 1, true},
	} {
		improved, ok := population.Improved(tt.b)
		if improved != tt.improved || ok != tt.ok {
			t.Errorf("%s: Improved %v, %v", tt.reason, improved, ok)
		}
	}
}

// An operator may ask for a diff where the task asks for whole programs, beside one that does not.
func TestRewriteAsDiff(t *testing.T) {
	model := llm.Func(func(_ context.Context, req llm.Request) (llm.Reply, error) {
		if strings.Contains(req.Messages[1].Content, "<<<<<<< SEARCH") {
			return ok("<<<<<<< SEARCH\n0\n=======\n1\n>>>>>>> REPLACE\n"), nil
		}
		return ok("```text\n2\n```"), nil
	})
	got := map[string]string{}
	p := newPopulation(t, population.Config{Task: numbers(t, "0"), LLM: model, N: 8, Policy: bandit.Random{},
		Operators: []population.Operator{
			population.Rewrite{Label: "diff", Form: task.AsDiff}, population.Rewrite{Label: "full"}},
		OnChild: func(c evolve.Child) { got[c.Operator] += c.Program + c.Err }})
	if _, err := p.Step(t.Context(), nil); err != nil {
		t.Fatal(err)
	}
	if strings.Trim(got["diff"], "1") != "" || strings.Trim(got["full"], "2") != "" ||
		len(got["diff"])*len(got["full"]) == 0 {
		t.Errorf("programs by operator: %v", got)
	}
}

// A maker makes a child without a model, whose brief has the notes all the same.
type maker struct{}

func (maker) Name() string { return "maker" }
func (maker) Brief(v *population.View) evolve.Brief {
	b := v.Brief()
	b.Make = func(context.Context, *evolve.Work) (string, error) { return "-1", nil }
	return b
}

// A diary is a memory of one note, which keeps what children were shown.
type diary map[string][]string

func (diary) Section(*population.View) task.Section { return task.Notes("tip") }
func (d diary) Learn(_ context.Context, s *population.Season) error {
	for _, b := range s.Births {
		shown := ""
		for _, s := range b.Shown {
			shown += strings.Join(s.Lines, ", ")
		}
		d[b.Operator] = append(d[b.Operator], shown)
	}
	return nil
}

// Memories count what their notes have brought, so they are told which children were shown them.
func TestMemoriesKnowWhoWasShownNotes(t *testing.T) {
	told := diary{}
	run(t, newPopulation(t, population.Config{Task: numbers(t, "0"), LLM: climber, N: 8, Seed: 3,
		Memory:    []population.Memory{told},
		Operators: []population.Operator{population.Rewrite{}, population.Explore{}, maker{}},
		Policy:    bandit.Shares{1, 1, 1}}), 32)
	for operator, want := range map[string]string{"rewrite": "tip", "explore": "", "maker": ""} {
		if len(told[operator]) == 0 {
			t.Errorf("%s made no child", operator)
		}
		for _, notes := range told[operator] {
			if notes != want {
				t.Errorf("a child of %s was shown %q, want %q", operator, notes, want)
			}
		}
	}
}

// prepares is a rewrite whose prompt is written after its Prepare, which drops the notes of every other child.
type prepares struct{}

func (prepares) Name() string { return "prepares" }
func (prepares) Brief(v *population.View) evolve.Brief {
	b := v.Brief()
	b.Prepare = func(_ context.Context, ask task.Request) (task.Request, string, error) {
		if v.Birth%2 == 0 {
			ask.Sections = nil
		}
		return ask, "", nil
	}
	return b
}

// They are told what prompts showed, after bounds and a Prepare, and not what was meant to be shown.
func TestMemoriesKnowWhatPromptsShowed(t *testing.T) {
	hidden := task.WithBounds(numbers(t, "0"), task.Bounds{task.ShowNotes: 0})
	for _, tt := range []struct {
		reason   string
		of       task.Task
		operator population.Operator
		want     map[string]bool
	}{
		{"notes are left out", hidden, population.Rewrite{}, map[string]bool{"": true}},
		{"around other wrappers too", task.WithEvaluator(hidden, hidden), population.Rewrite{}, map[string]bool{"": true}},
		{"nothing left for a word", task.WithBounds(numbers(t, "0"), task.Bounds{task.ShowNotes: -3}), population.Rewrite{},
			map[string]bool{"": true}},
		{"room for it", task.WithBounds(numbers(t, "0"), task.Bounds{task.ShowNotes: 1}), population.Rewrite{},
			map[string]bool{"tip": true}},
		{"a Prepare decides", numbers(t, "0"), prepares{}, map[string]bool{"": true, "tip": true}},
		{"a Prepare and bounds", hidden, prepares{}, map[string]bool{"": true}},
	} {
		told := diary{}
		prompts := map[string]bool{}
		model := llm.Func(func(ctx context.Context, req llm.Request) (llm.Reply, error) {
			_, has, _ := strings.Cut(req.Messages[len(req.Messages)-1].Content, "> ti")
			prompts[has[:min(1, len(has))]] = true
			return climber(ctx, req)
		})
		run(t, newPopulation(t, population.Config{Task: tt.of, LLM: llm.Limit(model, 1), N: 8, Seed: 3,
			Memory: []population.Memory{told}, Operators: []population.Operator{tt.operator}}), 16)
		got := map[string]bool{}
		for _, notes := range told[tt.operator.Name()] {
			got[notes] = true
		}
		if !maps.Equal(got, tt.want) || len(prompts) != len(got) || prompts["p"] != got["tip"] {
			t.Errorf("%s: memories are told of %v, want %v; prompts %v", tt.reason, got, tt.want, prompts)
		}
	}
}

package history_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/evoalloc/evoalloc/bandit"
	"github.com/evoalloc/evoalloc/eval"
	"github.com/evoalloc/evoalloc/evolve"
	"github.com/evoalloc/evoalloc/evolve/books"
	"github.com/evoalloc/evoalloc/evolve/history"
	"github.com/evoalloc/evoalloc/evolve/internal/record"
	"github.com/evoalloc/evoalloc/evolve/journal"
	"github.com/evoalloc/evoalloc/evolve/population"
	"github.com/evoalloc/evoalloc/llm"
)

// What is read of a journal is what the run's result has.
func TestReadIsTheResult(t *testing.T) {
	for _, tt := range []struct {
		reason string
		arms   []evolve.Arm
		merges bool
	}{
		{"several arms", greedy(t, adder), false},
		{"children of several parents", crossing(t, adder), true},
	} {
		path := filepath.Join(t.TempDir(), "run.journal")
		var steps []evolve.Event // a result does not keep the programs
		result := made(t.Context(), t, path, 15, tt.arms, func(e evolve.Event) {
			if e.Kind == evolve.EventGeneration {
				steps = append(steps, e)
			}
		})
		r := one(t, path)
		want := described(steps)
		var got []string
		merges := false
		for _, c := range r.Candidates {
			merges = merges || len(c.Parents) > 1
			if c.Step > 0 {
				got = append(got, describe(c.Arm, c.Step, c.Index, c.ID, names(r, c.Parents), c.Operator, c.Program, c.Valid,
					c.Score))
			}
		}
		slices.Sort(got)
		for i := range max(len(got), len(want)) {
			if i >= min(len(got), len(want)) || got[i] != want[i] {
				t.Errorf("%s: read %d children and the result has %d, the first that differ are\n%q, want\n%q", tt.reason,
					len(got), len(want), got[i:min(i+1, len(got))], want[i:min(i+1, len(want))])
				break
			}
		}
		if merges != tt.merges {
			t.Errorf("%s: children of several parents: %v, want %v", tt.reason, merges, tt.merges)
		}
		start, best := r.Candidates[0], r.Candidates[r.Best()]
		if start.Name() != "start" || start.Program != "1 2 3" || !start.Valid ||
			start.Score != result.Arms[0].Start.Result.Score {
			t.Errorf("%s: begins with %+v", tt.reason, start)
		}
		if best.Program != result.Best.Program || best.Score != result.Best.Result.Score {
			t.Errorf("%s: best is %+v, want %+v", tt.reason, best, result.Best)
		}
		for i, arm := range result.Arms {
			if of := r.Candidates[bestOf(r, i)]; of.Score != arm.Best.Result.Score || of.Program != arm.Best.Program {
				t.Errorf("%s: best of arm %d is %+v, want %+v", tt.reason, i, of, arm.Best)
			}
		}
		if r.Fingerprint["task"] != "sum" || r.Fingerprint["arms"] != fmt.Sprint(len(tt.arms)) {
			t.Errorf("%s: fingerprint is %v", tt.reason, r.Fingerprint)
		}
	}
}

// described describes the children of steps.
func described(steps []evolve.Event) []string {
	type birth struct{ arm, id int }
	name := map[birth]string{}
	for _, e := range steps {
		name[birth{e.Pull.Arm, 0}] = "start"
		for _, c := range e.Generation.Children {
			name[birth{e.Pull.Arm, c.ID}] = fmt.Sprintf("%d/%d.%d", e.Pull.Arm, e.Generation.Index, c.Index)
		}
	}
	var out []string
	for _, e := range steps {
		for _, c := range e.Generation.Children {
			var parents []string
			for _, id := range c.Parents {
				if parent := name[birth{e.Pull.Arm, id}]; !slices.Contains(parents, parent) {
					parents = append(parents, parent)
				}
			}
			out = append(out, describe(e.Pull.Arm, e.Generation.Index, c.Index, c.ID, strings.Join(parents, " "), c.Operator,
				c.Program, c.Result.Valid, c.Result.Score))
		}
	}
	slices.Sort(out)
	return out
}

func describe(arm, step, index, id int, parents, operator, program string, valid bool, score float64) string {
	return fmt.Sprintf("%d/%d.%d is %d of %s by %q: %q %v %v", arm, step, index, id, parents, operator, program, valid,
		score)
}

// A run that goes on has the candidates of its journal so far, wherever that ends.
func TestReadWhileItIsWritten(t *testing.T) {
	path := filepath.Join(t.TempDir(), "run.journal")
	made(t.Context(), t, path, 6, greedy(t, adder), nil)
	whole := one(t, path)
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	most := 0
	for cut := bytes.IndexByte(text, '\n') + 1; cut <= len(text); cut += 499 {
		part := filepath.Join(t.TempDir(), "part.journal")
		if err := os.WriteFile(part, text[:cut], 0o600); err != nil {
			t.Fatal(err)
		}
		l, err := history.ReadLineage(part)
		if err != nil {
			t.Fatalf("cut after %d bytes: %v", cut, err)
		}
		got := l.Candidates
		if len(got) > len(whole.Candidates) || fmt.Sprint(got) != fmt.Sprint(whole.Candidates[:len(got)]) {
			t.Fatalf("cut after %d bytes: %v, want a beginning of %v", cut, got, whole.Candidates)
		}
		most = max(most, len(got))
	}
	if most < len(whole.Candidates)/2 {
		t.Errorf("at most %d of %d candidates were read", most, len(whole.Candidates))
	}
}

// A run that was stopped half-way through a step and made again has each child once.
func TestReadResumed(t *testing.T) {
	dir := t.TempDir()
	path, plain := filepath.Join(dir, "resumed.journal"), filepath.Join(dir, "plain.journal")
	made(t.Context(), t, plain, 10, greedy(t, adder), nil)
	for _, after := range []int{5, 14, 30} {
		ctx, kill := context.WithCancel(t.Context())
		asked := 0
		model := llm.Limit(llm.Func(func(ctx context.Context, req llm.Request) (llm.Reply, error) {
			if asked++; asked == after {
				kill()
			}
			return adder(ctx, req)
		}), 1)
		made(ctx, t, path, 10, greedy(t, model), nil)
		kill()
	}
	made(t.Context(), t, path, 10, greedy(t, adder), nil)
	if got, want := timeless(one(t, path)), timeless(one(t, plain)); got != want {
		t.Errorf("resumed\n%s\nwant\n%s", got, want)
	}
}

// timeless prints candidates without what differs when a run is made again.
func timeless(r *history.Lineage) string {
	var b strings.Builder
	for _, c := range r.Candidates {
		fmt.Fprintln(&b, describe(c.Arm, c.Step, c.Index, c.ID, names(r, c.Parents), c.Operator, c.Program, c.Valid, c.Score))
	}
	return b.String()
}

func TestReadRecords(t *testing.T) {
	good := func(score float64) eval.Result { return eval.Result{Valid: true, Score: score} }
	for _, tt := range []struct {
		reason  string
		arms    int
		records []record.Record
		want    string // of each candidate: name, parents, unknown parents, score, program
	}{
		{"killed while children were written: those of the process after it count", 1, []record.Record{
			draw(0, 0), program("a"), child(0, 0, 1, "a", 1, 0), child(0, 1, 2, "a", 1, 0),
			{Kind: record.Incarnation}, program("b"), child(0, 0, 1, "b", 2, 0), reported(0),
		}, "0/1.0[][0]=2 b"},
		{"a child that stands twice counts once", 1, []record.Record{
			draw(0, 0), program("a"), child(0, 0, 1, "a", 1), child(0, 0, 1, "a", 2), reported(0),
		}, "0/1.0[][]=2 a"},
		{"one initial program is that of all arms", 2, []record.Record{
			program("s"), evaluation("s", good(1)), draw(0, 1), child(0, 0, 1, "s", 1, 0),
		}, "start[][]=1 s; 1/1.0[start][]=1 s"},
		{"as many as arms are theirs in order", 2, []record.Record{
			program("s"), evaluation("s", good(1)), program("t"), evaluation("t", good(2)), draw(0, 1),
			child(0, 0, 1, "s", 1, 0),
		}, "0/start[][]=1 s; 1/start[][]=2 t; 1/1.0[1/start][]=1 s"},
		{"with fewer than arms nobody knows whose they are", 3, []record.Record{
			program("s"), evaluation("s", good(1)), program("t"), evaluation("t", good(2)), draw(0, 1),
			child(0, 0, 1, "s", 1, 0),
		}, "1/1.0[][0]=1 s"},
		{"a program that is evaluated part by part has no score of the whole", 1, []record.Record{
			program("s"), evaluation("s", good(1)), {Kind: record.Evaluation, Key: "another",
				Program: record.KeyOf("s").String(), Result: &eval.Result{Valid: true}},
			draw(0, 0),
		}, "start[][]=- s"},
		{"searches in one arm that count alike: which of two children is the parent is not known", 1, []record.Record{
			draw(0, 0), child(0, 0, 1, "", 1), draw(1, 0), child(1, 0, 1, "", 2), draw(2, 0), child(2, 0, 2, "", 3, 1, 7, 1),
		}, "0/1.0[][]=1 ; 0/2.0[][]=2 ; 0/3.0[][1 7]=3 "},
		{"a parent that was named twice", 1, []record.Record{
			draw(0, 0), child(0, 0, 1, "", 1), draw(1, 0), child(1, 0, 2, "", 2, 1, 1),
		}, "0/1.0[][]=1 ; 0/2.0[0/1.0][]=2 "},
		{"a child that claims to be its own parent", 1, []record.Record{draw(0, 0), child(0, 0, 1, "", 1, 1)},
			"0/1.0[][1]=1 "},
		{"a search that does not number its children", 1, []record.Record{
			program("s"), evaluation("s", good(1)), draw(0, 0), child(0, 0, 0, "", 1, 0), child(0, 1, 0, "", 1, 0),
		}, "start[][]=1 s; 0/1.0[start][]=1 ; 0/1.1[start][]=1 "},
		{"arms tell what they begin with: all the same", 2, []record.Record{
			program("s"), start(0, "s", 1), start(1, "s", 1), draw(0, 1), child(0, 0, 1, "s", 1, 0),
		}, "start[][]=1 s; 1/1.0[start][]=1 s"},
		{"or each its own", 2, []record.Record{
			program("s"), start(0, "s", 1), start(1, "s", 2), draw(0, 1), child(0, 0, 1, "s", 1, 0),
		}, "0/start[][]=1 s; 1/start[][]=2 s; 1/1.0[1/start][]=1 s"},
		{"or one of them does not", 2, []record.Record{
			program("s"), start(1, "s", 2), draw(0, 1), child(0, 0, 1, "s", 1, 0), draw(1, 0), child(1, 0, 1, "s", 1, 0),
		}, "1/start[][]=2 s; 1/1.0[1/start][]=1 s; 0/1.0[][0]=1 s"},
		{"arms that have not all begun", 2, []record.Record{program("s"), start(0, "s", 1)}, ""},
		{"steps that are under way at once", 2, []record.Record{
			draw(0, 0), draw(1, 1), child(0, 0, 1, "", 1), child(1, 0, 1, "", 2), child(0, 1, 2, "", 3), child(0, 0, 1, "", 4),
		}, "0/1.0[][]=4 ; 1/1.0[][]=2 ; 0/1.1[][]=3 "},
		{"killed with two steps under way, of which one was over", 2, []record.Record{
			draw(0, 0), draw(1, 1), child(0, 0, 1, "", 1), child(1, 0, 1, "", 2), reported(1), {Kind: record.Incarnation},
			child(0, 0, 1, "", 3),
		}, "1/1.0[][]=2 ; 0/1.0[][]=3 "},
		{"a step that the end of the run cut short has its children, also when somebody looks at the run again", 1,
			[]record.Record{
				draw(0, 0), child(0, 0, 1, "", 1), {Kind: record.Stop}, {Kind: record.Incarnation},
			}, "0/1.0[][]=1 "},
		{"until a larger limit makes it again", 1, []record.Record{
			draw(0, 0), child(0, 0, 1, "", 1), {Kind: record.Stop}, {Kind: record.Incarnation},
			{Kind: record.Raise, Fingerprint: journal.Fingerprint{"arms": "1"}},
			child(0, 0, 1, "", 2),
		}, "0/1.0[][]=2 "},
		{"a search that breeds twice in a step", 1, []record.Record{
			draw(0, 0), child(0, 0, 1, "", 1), child(0, 0, 2, "", 2, 1), reported(0),
		}, "0/1.0[][]=1 ; 0/1.0-2[0/1.0][]=2 "},
		{"a program that was evaluated with a line end, and not again without", 1, []record.Record{
			program("s\n"), start(0, "s\n", 1), draw(0, 0), child(0, 0, 1, "s", 1, 0),
		}, "start[][]=1 s\n; 0/1.0[start][]=1 s"},
		{"steps count by arm", 2, []record.Record{
			draw(0, 1), draw(1, 0), draw(2, 1), child(2, 3, 1, "", 1), child(1, 0, 1, "", 2),
		}, "1/2.3[][]=1 ; 0/1.0[][]=2 "},
	} {
		r := one(t, write(t, tt.arms, tt.records...))
		var got []string
		for _, c := range r.Candidates {
			score := "-"
			if c.Valid {
				score = fmt.Sprint(c.Score)
			}
			got = append(got, fmt.Sprintf("%s[%s]%v=%s %s", c.Name(), names(r, c.Parents), c.Unknown, score, c.Program))
		}
		if got := strings.Join(got, "; "); got != tt.want {
			t.Errorf("%s:\n%q, want\n%q", tt.reason, got, tt.want)
		}
	}
}

// The last run of a journal is apart from the one before it, though they count their pulls alike and share the texts of programs.
func TestReadSeveralRuns(t *testing.T) {
	path := filepath.Join(t.TempDir(), "run.journal")
	made(t.Context(), t, path, 3, greedy(t, adder), nil)
	j, err := journal.Open(path, journal.Config{Resume: true, Fingerprint: journal.Fingerprint{"task": "sum"}})
	if err != nil {
		t.Fatal(err)
	}
	defer j.Close()
	for _, arms := range [][]evolve.Arm{greedy(t, adder), crossing(t, adder)} {
		if _, err := evolve.Run(t.Context(), evolve.Config{Arms: arms, Policy: &bandit.UCB1{},
			Budget: evolve.Budget{Rounds: 3}, Journal: j}); err != nil {
			t.Fatal(err)
		}
	}
	l, err := history.ReadLineage(path)
	if err != nil || l.Runs != 2 {
		t.Fatal(l, err)
	}
	// Its initial program was evaluated in the first run, and is that of the second, too.
	if n := len(l.Candidates); n != 3*6+1 || l.Candidates[0].Step > 0 {
		t.Errorf("the second run has %d candidates and begins with %+v, want %d and an initial program", n,
			l.Candidates[0], 3*6+1)
	}
	for _, c := range l.Candidates {
		if c.Key != "" && c.Program == "" {
			t.Errorf("%s has no text", c.Name())
		}
	}
}

// A journal from before children were told of as they are taken in has them when their step is over.
func TestReadEarlierJournal(t *testing.T) {
	r := one(t, "../testdata/before_addresses.journal")
	if len(r.Candidates) < 10 || r.Candidates[0].Name() != "start" || r.Candidates[0].Program != "0" ||
		!r.Candidates[0].Valid {
		t.Fatalf("%d candidates, the first is %+v", len(r.Candidates), r.Candidates[0])
	}
	for _, c := range r.Candidates[1:] {
		if c.Program != "" && len(c.Parents) == 0 || c.State == "" {
			t.Errorf("%+v", c)
		}
	}
}

func TestReadLineageRefuses(t *testing.T) {
	dir := t.TempDir()
	text := filepath.Join(dir, "notes.txt")
	if err := os.WriteFile(text, []byte("not a journal\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		reason, path, want string
		is                 error
	}{
		{"a file that is not there", filepath.Join(dir, "none"), "none", os.ErrNotExist},
		{"a file that is not a journal", text, "is not a journal", nil},
	} {
		_, err := history.ReadLineage(tt.path)
		if err == nil || !strings.Contains(err.Error(), tt.want) ||
			tt.is != nil && !errors.Is(err, tt.is) {
			t.Errorf("%s: %v, want %q and %v", tt.reason, err, tt.want, tt.is)
		}
	}
}

// A program that a gate refused was never evaluated, and is a candidate with its text.
func TestRefusedProgramsAreThere(t *testing.T) {
	refuse := population.GateFunc(func(context.Context, *population.View, string) (string, error) {
		return "too plain",
			nil
	})
	p, err := population.New(population.Config{Task: sum("sum", "1 2 3"), LLM: adder, N: 3, Seed: 40,
		Gates: []population.Gate{refuse}})
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "run.journal")
	made(t.Context(), t, path, 1, []evolve.Arm{p}, nil)
	r := one(t, path)
	for _, c := range r.Candidates[1:] {
		if c.State != books.StateRefused || c.Valid || !strings.HasSuffix(c.Reason, ": too plain") ||
			!strings.HasPrefix(c.Program, "1 2 3 ") {
			t.Errorf("%s is %+v", c.Name(), c)
		}
	}
	if len(r.Candidates) != 4 {
		t.Errorf("%d candidates, want 4", len(r.Candidates))
	}
	var git bytes.Buffer
	if err := r.WriteGit(&git, ""); err != nil || strings.Count(git.String(), ": too plain\n") != 3 {
		t.Errorf("the repository does not say why they were refused: %v", err)
	}
}

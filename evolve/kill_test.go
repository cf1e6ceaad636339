package evolve_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/evoalloc/evoalloc/bandit"
	"github.com/evoalloc/evoalloc/evolve"
	"github.com/evoalloc/evoalloc/evolve/books"
	"github.com/evoalloc/evoalloc/evolve/breadth"
	"github.com/evoalloc/evoalloc/evolve/history"
	"github.com/evoalloc/evoalloc/evolve/internal/record"
	"github.com/evoalloc/evoalloc/evolve/journal"
	"github.com/evoalloc/evoalloc/evolve/report"
	resultfile "github.com/evoalloc/evoalloc/evolve/result"
	"github.com/evoalloc/evoalloc/internal/killtest"
	"github.com/evoalloc/evoalloc/internal/notrun"
	"github.com/evoalloc/evoalloc/llm"
	"github.com/evoalloc/evoalloc/llm/llmtest"
	"github.com/evoalloc/evoalloc/llm/openai"
	"github.com/evoalloc/evoalloc/task"
)

var kills = flag.Int("kills", 1, "how often TestKill kills a run of each kind")

const killCalls, killN = 240, 6

// A killedKind is a run that TestKill kills.
type killedKind struct {
	search         string
	arms, inFlight int
	window         int // of the children of a step
	order          evolve.Order
}

// killKinds are runs of our search and of a user's own, with a plain task and model, whose only wiring is
// Config.Journal.
var killKinds = []killedKind{
	{"greedy", 1, 1, 0, evolve.ByIndex},
	{"greedy", 6, 1, 0, evolve.ByIndex},
	{"greedy", 10, 8, 0, evolve.ByIndex},
	{"steady", 1, 1, 8, evolve.ByIndex},
	{"steady", 1, 1, 8, evolve.AsTheyEnd},
	{"steady", 6, 4, 8, evolve.AsTheyEnd},
	{"adaptive", 1, 1, 0, evolve.ByIndex},
	{"adaptive", 6, 4, 0, evolve.ByIndex},
	{"careless", 1, 1, 0, evolve.ByIndex},
	{"careless", 6, 4, 0, evolve.ByIndex},
	{"crossing", 6, 1, 0, evolve.ByIndex},
	{"crossing", 6, 1, 3, evolve.AsTheyEnd},
	{"crossing", 6, 4, 0, evolve.ByIndex},
	{"crossing", 6, 4, 3, evolve.AsTheyEnd},
	{"sessions", 1, 1, 0, evolve.ByIndex},
	{"sessions", 6, 4, 0, evolve.ByIndex},
	{"proposers", 6, 1, 0, evolve.ByIndex},
	{"proposers", 6, 4, 3, evolve.AsTheyEnd},
}

func (k killedKind) String() string {
	return fmt.Sprintf("%s, %d arms, %d in flight, window %d, %v", k.search, k.arms, k.inFlight, k.window, k.order)
}

// sure reports whether the run comes to the same whatever ends first, and however long a step takes.
func (k killedKind) sure() bool {
	return k.inFlight == 1 && k.order == evolve.ByIndex && k.search != "adaptive"
}

// list makes the arms.
func (k killedKind) list(tk task.Task, l llm.LLM) (arms []evolve.Arm, err error) {
	if k.search == "proposers" {
		return evolve.GreedyArms(evolve.GreedyConfig{Task: tk, LLM: l, N: killN, Window: k.window, Order: k.order, Seed: 40,
			Proposers: []evolve.Proposer{{Name: "plain"}, {Name: "told", System: "Be bold."}, {Name: "asked", Instruction: "Go on."}},
		}, k.arms)
	}
	for i := range k.arms {
		seed := uint32(40 + i)
		switch k.search {
		case "careless":
			arms = append(arms, &careless{task: tk, llm: l, seed: seed})
		case "sessions":
			arms = append(arms, newSessions(tk, l, seed, new(atomic.Int64)))
		case "crossing":
			c := newCrossing(tk, l, seed, killN)
			c.Window, c.Order = k.window, k.order
			arms = append(arms, c)
		default:
			n, b := killN, evolve.Breadth(nil)
			switch k.search {
			case "steady":
				n = killCalls / 4
			case "adaptive":
				n, b = killCalls/4, breadth.Adaptive{Second: 500}
			}
			g, err := evolve.NewGreedy(evolve.GreedyConfig{Task: tk, LLM: l, N: n, Breadth: b, Window: k.window, Order: k.order,
				Seed: seed})
			if err != nil {
				return nil, err
			}
			arms = append(arms, g)
		}
	}
	return arms, nil
}

// answered reports whether so many answered calls are what the run ends with: all of its budget, but for what is too little
// for one more session.
func (k killedKind) answered(calls int) bool {
	return calls <= killCalls && (calls == killCalls || k.search == "sessions" && calls > killCalls-3)
}

// killedRun makes or resumes a run of the kind whose number is args[1], and saves the result.
func killedRun(dir string, args []string) error {
	number, err := strconv.Atoi(args[1])
	if err != nil {
		return err
	}
	kind := killKinds[number]
	j, err := journal.Open(filepath.Join(dir, "run.journal"), journal.Config{Resume: true})
	if err != nil {
		return err
	}
	client, err := openai.New(openai.Config{Seed: true, BaseURL: args[0], Model: llm.Models()[0]})
	if err != nil {
		return err
	}
	tk, err := numbersTask("0", new(numbers))
	if err != nil {
		return err
	}
	arms, err := kind.list(tk, llm.Retry(llm.Limit(client, 8), llm.RetryConfig{}))
	if err != nil {
		return err
	}
	res, err := evolve.Run(context.Background(), evolve.Config{
		Arms: arms, Policy: &bandit.UCB1{}, InFlight: kind.inFlight, Journal: j,
		Budget: evolve.Budget{Calls: killCalls, TuneEvaluations: killCalls},
	})
	if err != nil {
		return err
	}
	file := report.NewBandit(res, report.BanditHeader{ArmSeeds: make([]uint32, kind.arms)})
	return errors.Join(resultfile.Save(filepath.Join(dir, "result.json"), file), j.Close())
}

// improveAlike is improve, and the same when a request is sent again.
var improveAlike = llmtest.Echo(func(req llmtest.Request, program string) string {
	v, err := strconv.ParseFloat(strings.TrimSpace(program), 64)
	if err != nil {
		return program
	}
	return fmt.Sprint(v + rand.New(rand.NewPCG(uint64(req.Seed), 1)).NormFloat64())
})

// sends counts how often each seed was asked for.
type sends struct {
	mu sync.Mutex
	n  map[uint32]int
}

func (s *sends) count(r llmtest.Request) llmtest.Fault {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.n[r.Seed]++
	return ""
}

func (s *sends) snapshot() map[uint32]int {
	s.mu.Lock()
	defer s.mu.Unlock()
	out := make(map[uint32]int, len(s.n))
	for k, v := range s.n {
		out[k] = v
	}
	return out
}

// A real run is killed at random instants and resumed each time: no request whose reply was journaled
// is ever sent again, requests sent more than once never exceed those in flight at kills, and the
// result is the undisturbed run's.
func TestKill(t *testing.T) {
	killtest.Main(killedRun)
	// The normal run has one that comes to the same whatever ends first, two whose order the journal records, and sessions.
	for _, i := range notrun.Few(ascending(len(killKinds)), 5, 15, 16, 17) {
		t.Run(killKinds[i].String(), func(t *testing.T) {
			t.Parallel()
			killOften(t, i)
		})
	}
}

func killOften(t *testing.T, number int) {
	kind := killKinds[number]
	s := &sends{n: map[uint32]int{}}
	srv := llmtest.NewServer(llmtest.Config{Reply: improveAlike, Fault: s.count,
		Latency: llmtest.LogNormal{Median: 3 * time.Millisecond, Sigma: 1, Cap: 50 * time.Millisecond}})
	defer srv.Close()
	start := func(dir string) *exec.Cmd { return killtest.Start(t, dir, srv.URL, strconv.Itoa(number)) }
	undisturbed, whole := killtest.Undisturbed(t, srv.URL, strconv.Itoa(number))
	rng := rand.New(rand.NewPCG(7, uint64(number)))
	for done := 0; done < *kills; {
		s.mu.Lock()
		clear(s.n)
		s.mu.Unlock()
		dir := t.TempDir()
		lost := 0
		for done < *kills && !finished(dir) {
			begin := time.Now()
			cmd := start(dir)
			time.Sleep(time.Duration(rng.Int64N(int64(whole)*2/3) + 1))
			killed := cmd.Process.Kill() == nil
			err := cmd.Wait()
			if err == nil { // it was faster
				whole = min(whole, time.Since(begin))
				break
			}
			if !killed || cmd.ProcessState.ExitCode() > 0 {
				t.Fatalf("the run failed: %v", err)
			}
			done++
			lost = check(t, dir, s.snapshot())
		}
		if err := start(dir).Wait(); err != nil {
			t.Fatal(err)
		}
		repeated := 0
		for _, n := range s.snapshot() {
			repeated += n - 1
		}
		if repeated > lost {
			t.Errorf("%d requests were sent again, %d were under way at kills", repeated, lost)
		}
		compareRuns(t, kind, undisturbed, dir, start)
	}
}

func finished(dir string) bool {
	_, err := os.Stat(filepath.Join(dir, "result.json"))
	return err == nil
}

// check reads the journal of a killed run and returns how many calls all its incarnations lost: begun, not ended. Of
// each request that it has an answer to it has one, and that was sent.
func check(t *testing.T, dir string, sent map[uint32]int) int {
	begun, ended := map[string]int{}, map[string]int{}
	for r, err := range record.Read(filepath.Join(dir, "run.journal")) {
		if errors.Is(err, os.ErrNotExist) {
			return 0 // killed before it was made
		}
		if err != nil {
			t.Fatal(err)
		}
		switch r.Kind {
		case record.Begin:
			begun[r.Key]++
		case record.Completion:
			ended[r.Key]++
		}
	}
	lost := 0
	for key, n := range ended {
		if n != 1 {
			t.Errorf("the answer to request %s was paid for and recorded %d times", key, n)
		}
	}
	for key, n := range begun {
		lost += n - ended[key]
	}
	if len(ended) > len(sent) {
		t.Errorf("%d answers in the journal, %d requests sent", len(ended), len(sent))
	}
	return lost
}

// compareRuns compares the result with the undisturbed run's, but for times, or with what its own journal gives
// where what ends first decides; and with the budget.
func compareRuns(t *testing.T, kind killedKind, undisturbed, dir string, start func(string) *exec.Cmd) {
	got := result(t, dir)
	want := result(t, undisturbed)
	if !kind.sure() {
		if err := os.Remove(filepath.Join(dir, "result.json")); err != nil {
			t.Fatal(err)
		}
		if err := start(dir).Wait(); err != nil {
			t.Fatal(err)
		}
		want = result(t, dir)
	}
	if !bytes.Equal(thisLife(t, got), thisLife(t, want)) {
		t.Errorf("the killed run came to another result:\n%.2000s", got)
	}
	var r report.Bandit
	if err := json.Unmarshal(got, &r); err != nil || !kind.answered(r.FLOPs.WorstCase.OK) {
		t.Errorf("%d calls in the result, want %d (%v)", r.FLOPs.WorstCase.OK, killCalls, err)
	}
	checkLives(t, kind, r, killtest.Lost(t, filepath.Join(dir, "run.journal")))
	checkHistory(t, r, dir)
}

// checkHistory checks that readers of the journal in dir find one history, however often the run was killed: the children
// of the result, each once.
func checkHistory(t *testing.T, r report.Bandit, dir string) {
	t.Helper()
	l, err := history.ReadLineage(filepath.Join(dir, "run.journal"))
	if err != nil || l.Runs != 1 {
		t.Fatal(l, err)
	}
	found := map[string]history.Candidate{}
	for _, c := range l.Candidates {
		if c.Step > 0 && c.State != books.StateRefused {
			found[fmt.Sprint(c.Arm, c.Step, c.Index, c.ID)] = c
		}
	}
	children := 0
	for arm, search := range r.ArmResults {
		for _, g := range search.Trajectory[1:] {
			for _, row := range g.Children {
				children++
				c, ok := found[fmt.Sprint(arm, g.Generation, row.Index, row.ID)]
				parents := slices.Compact(slices.Sorted(slices.Values(row.Parents))) // a program may be crossed with itself
				if !ok || c.Key != row.Program || c.Valid != row.Valid || c.Valid && c.Score != *row.Fitness ||
					len(c.Parents) != len(parents) {
					t.Errorf("child %d of step %d of arm %d is %.300s in the result, and %.300s in the journal", row.Index,
						g.Generation, arm, fmt.Sprintf("%+v", row), fmt.Sprintf("%+v", c))
				}
			}
		}
	}
	if len(found) != children {
		t.Errorf("the journal has %d children, the result %d", len(found), children)
	}
}

// checkLives checks that a result says what the whole run cost, lost calls included.
func checkLives(t *testing.T, kind killedKind, r report.Bandit, lost int) {
	t.Helper()
	if lost == 0 {
		if r.Total != nil {
			t.Errorf("nothing was lost, and the result tells of %+v", r.Total)
		}
		return
	}
	if a := r.Total; a == nil || a.Lost != lost || a.Calls[llm.Abandoned] != lost || !kind.answered(a.Calls[llm.Real]) ||
		a.FLOPs.WorstCase.Canceled != lost {
		t.Errorf("%d calls were lost; the result tells of %+v", lost, a)
	}
}

// result reads a result without its times.
func result(t *testing.T, dir string) []byte {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(dir, "result.json"))
	if err != nil {
		t.Fatal(err)
	}
	return killtest.WithoutTimes(data)
}

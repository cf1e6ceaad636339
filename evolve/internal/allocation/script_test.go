package allocation_test

import (
	"cmp"
	"flag"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/evoalloc/evoalloc/bandit"
	"github.com/evoalloc/evoalloc/evolve/internal/allocation"
	"github.com/evoalloc/evoalloc/internal/runtest"
)

var update = flag.Bool("update", false, "write the answers into the scripts")

// Each script in evolve/testdata holds commands to a core, and the answers.
//
//	core arms=2 wants=4 calls=10   a core of two arms that would like four calls a step; limits by name; with "tell",
//	                               draws show which calls the policy is told of
//	arm 1 done | arm 1 wants=2     what an arm says from now on
//	begin best=0.5                 an arm begins with a candidate of that score
//	spent calls=1 evaluations=1    before the first draw
//	next [most=3]                  what is to be done?
//	take 0 calls=4 best=0.3        the outcome of pull 0; stalls, evaluations, limit, cut, and the reward (best, if not given)
//	end canceled                   the driver stops the run
//	exhausted                      is nothing left to draw, whatever is pending?
//	again                          all commands so far, with a new core: are the answers the same?
func TestScripts(t *testing.T) {
	runtest.CheckScripts(t, "../../testdata/*.txt", *update, func(t *testing.T) func([]string) string {
		s := &session{t: t}
		return func(lines []string) string {
			command := lines[len(lines)-1] // below comments
			answer := s.do(command)
			s.done = append(s.done, exchange{command, answer})
			return answer
		}
	})
}

// A session is a core and what was asked of it.
type session struct {
	t    *testing.T
	core *allocation.Core
	told *told // nil unless the policy's calls are shown
	arms []allocation.Arm
	done []exchange
}

type exchange struct{ command, answer string }

// do gives one command and returns the answer.
func (s *session) do(command string) string {
	words := strings.Fields(command)
	a := parse(s.t, words[1:])
	switch words[0] {
	case "core":
		return s.begin(a)
	case "arm":
		arm := &s.arms[a.number]
		arm.Done, arm.Calls = arm.Done || a.has("done"), cmp.Or(a.int("wants"), arm.Calls)
		return "ok"
	case "begin":
		s.core.Begin(a.best())
		return "ok"
	case "spent":
		s.core.Spent(a.int("calls"), a.int("stalls"), a.int("evaluations"))
		return "ok"
	case "next":
		return s.next(a)
	case "take":
		return s.take(a)
	case "end":
		return decision(s.core.End(allocation.Why(words[1]), ""))
	case "exhausted":
		return fmt.Sprint(s.core.Exhausted(s.arms))
	case "again":
		return s.again()
	}
	s.t.Fatalf("what is %q?", command)
	return ""
}

// begin makes a core.
func (s *session) begin(a arguments) string {
	s.arms = make([]allocation.Arm, a.int("arms"))
	for i := range s.arms {
		s.arms[i].Calls = a.int("wants")
	}
	limits := allocation.Limits{Calls: a.int("calls"), Evaluations: a.int("evaluations"), Stalls: -1,
		Rounds:       a.int("rounds"),
		RoundsPerArm: a.int("perarm"), Patience: a.int("patience")}
	if a.has("stalls") {
		limits.Stalls = a.int("stalls")
	}
	if a.has("target") {
		target := a.float("target")
		limits.Target = &target
	}
	var policy bandit.Policy = &bandit.UCB1{}
	if a.has("random") {
		policy = bandit.Random{}
	}
	if a.has("tell") {
		s.told = &told{Policy: policy}
		policy = s.told
	}
	s.core = allocation.New(allocation.Config{Arms: len(s.arms), Policy: policy, Seed: uint64(a.int("seed")),
		Limits: limits})
	return "ok"
}

func (s *session) next(a arguments) string {
	d, err := s.core.Next(s.arms, a.int("most"))
	if err != nil {
		return "error: " + err.Error()
	}
	if s.told != nil && d.Kind == allocation.Draw {
		return fmt.Sprintf("told of calls %v, with %v pending\n%s", s.told.calls, s.told.pending, decision(d))
	}
	return decision(d)
}

// told is a policy that keeps what it was told of calls at the latest draw.
type told struct {
	bandit.Policy
	calls, pending []int
	heard          string // with the latest outcome
}

func (p *told) Probs(probs []float64, r bandit.Round) {
	p.calls, p.pending = slices.Clone(r.Calls), slices.Clone(r.Pending)
	p.Policy.Probs(probs, r)
}

func (p *told) Update(pull bandit.Pull, reward float64) {
	p.heard = fmt.Sprintf(", of a pull of %d calls", pull.Calls)
	p.Policy.Update(pull, reward)
}

// decision tells what is to be done.
func decision(d allocation.Decision) string {
	switch d.Kind {
	case allocation.Wait:
		return "wait for an outcome"
	case allocation.Stop:
		return strings.TrimSpace(fmt.Sprintf("stop by %s %s", d.Why, d.Limit))
	}
	text := fmt.Sprintf("draw pull %d of arm %d, with a chance of %.3g", d.Pull.ID, d.Pull.Arm, d.Pull.Prob)
	if d.Calls > 0 {
		text += fmt.Sprintf(": %d calls set aside", d.Calls)
	}
	return text
}

// take takes an outcome in, and tells the policy if the core says so.
func (s *session) take(a arguments) string {
	report, err := s.core.Take(allocation.Outcome{
		Pull: a.number, Calls: a.int("calls"), Stalls: a.int("stalls"), Evaluations: a.int("evaluations"),
		Limit: a.values["limit"], Whole: !a.has("cut"), Best: a.best(),
	})
	if err != nil {
		return "error: " + err.Error()
	}
	if !report {
		return "taken back: the policy does not hear of it"
	}
	reward := a.float("best")
	if a.has("reward") {
		reward = a.float("reward")
	}
	if err := s.core.Report(a.number, reward); err != nil {
		return "error: " + err.Error()
	}
	text := fmt.Sprintf("the policy hears of %v", reward)
	if s.told != nil {
		text += s.told.heard
	}
	return text
}

// again gives all commands once more.
func (s *session) again() string {
	other, n := &session{t: s.t}, 0
	for _, e := range s.done {
		if e.command == "again" {
			continue
		}
		if answer := other.do(e.command); answer != e.answer {
			return fmt.Sprintf("%q: %q, and then %q", e.command, e.answer, answer)
		}
		n++
	}
	return fmt.Sprintf("%d commands, the same answers", n)
}

// arguments are the words after a command: a number, flags, and values by name.
type arguments struct {
	t      *testing.T
	number int
	values map[string]string
}

func parse(t *testing.T, words []string) arguments {
	a := arguments{t: t, values: map[string]string{}}
	for _, w := range words {
		if n, err := strconv.Atoi(w); err == nil {
			a.number = n
			continue
		}
		name, value, _ := strings.Cut(w, "=")
		a.values[name] = value
	}
	return a
}

func (a arguments) has(name string) bool {
	_, found := a.values[name]
	return found
}

func (a arguments) int(name string) int { return int(a.float(name)) }

func (a arguments) float(name string) float64 {
	v, found := a.values[name]
	if !found {
		return 0
	}
	f, err := strconv.ParseFloat(v, 64)
	if err != nil {
		a.t.Fatalf("%s=%s: %v", name, v, err)
	}
	return f
}

// best is the score of a valid candidate, or none.
func (a arguments) best() allocation.Score {
	return allocation.Score{Valid: a.has("best"), Value: a.float("best")}
}

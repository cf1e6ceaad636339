package view

import (
	"fmt"
	"math"
	"math/rand/v2"
)

// synthetic returns a state as a run of that many children would make it: searches of a hundred children a step, of
// which a fifth is invalid. The same seed makes the same state.
func synthetic(children, arms int, seed uint64) runState {
	rnd := rand.New(rand.NewPCG(seed, 1))
	s := runState{ID: "r1", Name: fmt.Sprintf("packing of %d", children), Status: "over", Begun: 1_790_000_000_000,
		Now:     1_790_000_600_000,
		Command: "evoalloc bandit --T 64 --N 64", Labels: []string{"rewrite", "crossover", "point", "model-a", "model-b"},
		Programs: map[string]programText{}}
	best, bestRow := math.Inf(-1), -1
	last := make([][]int, arms) // rows of each arm's last step
	fill := make([][]int, arms) // and of the one being filled
	scores := make([]float64, arms)
	born := make([]int, arms)
	for a := range arms {
		scores[a] = 0.3 + 0.01*float64(a)
		s.Arms = append(s.Arms, armState{Name: fmt.Sprintf("seed %d", 40+a), Start: scores[a], Valid: true, Program: "start"})
	}
	s.Programs["start"] = programText{Text: "function pack() {\n  return [];\n}\n",
		Runs: []int{8, tokenKeyword, 1, tokenPlain, 4, tokenFunction}}
	const wide = 20
	for pull := 0; pull*wide < children; pull++ {
		arm := rnd.IntN(arms)
		step := born[arm]/wide + 1
		before := scores[arm]
		for i := range min(wide, children-pull*wide) {
			row := len(s.Children.Arm)
			born[arm]++
			parent := 0
			if n := len(last[arm]); n > 0 {
				parent = s.Children.ID[last[arm][rnd.IntN(n)]]
			}
			score := before + 0.02*rnd.NormFloat64() - 0.015
			state := childValid
			if rnd.IntN(5) == 0 {
				state = 1 + rnd.IntN(3)
			}
			key := ""
			if state <= childInvalid {
				key = fmt.Sprintf("p%d", row)
			}
			s.add(arm, pull, step, i, born[arm], parent, state, score, rnd.IntN(3), 3+rnd.IntN(2), key)
			if state != childValid {
				continue
			}
			fill[arm] = append(fill[arm], row)
			scores[arm] = max(scores[arm], score)
			if score > best {
				best, bestRow = score, row
			}
		}
		last[arm], fill[arm] = fill[arm], nil
		s.round(arm, 1/float64(arms)*(0.5+rnd.Float64()), wide, scores[arm]-before, best)
	}
	s.finish(best, bestRow)
	return s
}

// add appends a child.
func (s *runState) add(arm, pull, step, index, id, parent, state int, score float64, operator, model int, key string) {
	c := &s.Children
	row := len(c.Arm)
	var held *float64
	reason := "line 3: unexpected end of input"
	if state == childValid {
		held, reason = &score, ""
	}
	c.Arm, c.Pull, c.Step, c.Index, c.ID = append(c.Arm, arm), append(c.Pull, pull), append(c.Step, step),
		append(c.Index, index), append(c.ID, id)
	c.Parents, c.Score, c.State = append(c.Parents, []int{parent}), append(c.Score, held), append(c.State, state)
	c.Operator, c.Model = append(c.Operator, operator), append(c.Model, model)
	c.Cell, c.Island = append(c.Cell, -1), append(c.Island, -1)
	c.Program, c.Reason = append(c.Program, key), append(c.Reason, reason)
	c.Time, c.Calls = append(c.Time, int64(row)*15), append(c.Calls, row+1)
	c.Tokens, c.FLOPs, c.Money = append(c.Tokens, int64(row)*900), append(c.FLOPs, float64(row)*1.4e13),
		append(c.Money, float64(row)*0.0004)
}

func (s *runState) round(arm int, prob float64, calls int, reward, best float64) {
	r := &s.Rounds
	r.Arm, r.Prob, r.Calls, r.Reward = append(r.Arm, arm), append(r.Prob, prob), append(r.Calls, calls),
		append(r.Reward, max(reward, 0))
	r.Over, r.Best = append(r.Over, true), append(r.Best, best)
	r.Begin, r.End = append(r.Begin, int64(len(r.Arm))*300), append(r.End, int64(len(r.Arm))*300+250)
}

// finish fills in what is not by child.
func (s *runState) finish(best float64, row int) {
	n := len(s.Children.Arm)
	s.Facts = []Fact{{Name: "Best", Value: fmt.Sprintf("%.4f", best), Note: "from 0.3000"},
		{Name: "Searches", Value: fmt.Sprint(len(s.Arms))},
		{Name: "Ran", Value: "UCB over greedy searches"}, {Name: "Ended", Value: "the budget of calls is spent"}}
	s.Meters = []meterState{{Name: "Calls", Unit: "calls", Spent: float64(n), Reserved: 40, Limit: float64(n) * 1.25,
		Rate: 12},
		{Name: "Tokens", Unit: "tokens", Spent: float64(n) * 900, Rate: 9000}}
	if row < 0 {
		return
	}
	s.Best = []int{row}
	key := s.Children.Program[row]
	text := "function pack() {\n  return [1, 2];\n}\n"
	s.Programs[key] = programText{Text: text, Runs: []int{8, tokenKeyword, 1, tokenPlain, 4, tokenFunction}}
	s.Line = []lineStep{{Row: -1, Score: 0.3, Program: "start"},
		{Row: row, Arm: s.Children.Arm[row], Score: best, Operator: "rewrite", Model: "model-a",
			Said: "Two circles fit.", Program: key, Diff: []lineChange{{Op: " ", Text: "function pack() {\n", Old: 1, New: 1},
				{Op: "-", Text: "  return [];\n", Old: 2, New: 2}, {Op: "+", Text: "  return [1, 2];\n", Old: 3, New: 2},
				{Op: " ", Text: "}\n", Old: 3, New: 3}}}}
	s.Ledgers = []ledgerTable{{Kind: "operator", Rows: []ledgerRow{{Name: "rewrite", Children: n / 2, Valid: n / 3,
		Improved: 12, Lifted: n / 3, Lift: 0.01, LiftSE: 0.002, Last: row, Calls: n / 2, Tokens: 12345},
		{Name: "point", Children: n / 3, Valid: n / 4, Improved: 2, Lifted: n / 4, Lift: -0.02, LiftSE: 0.004, Last: -1, Calls: n / 3,
			Tokens: 2345}}}}
	s.Endpoints = []endpointState{{Name: "http://127.0.0.1:8000/v1",
		Statuses: map[string]int{"ok": n - 3, "stall": 2, "error": 1}, Latency: 1.25,
		Errors: []message{{Text: "429 Too Many Requests", Count: 2}}}}
	s.Messages = []message{{Time: 12_000, Kind: "stall", Text: "no token for 30 s", Count: 2}}
}

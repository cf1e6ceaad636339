package analyze

import (
	"encoding/json"
)

// spent is a run's spending by generation, or by round of a bandit, beside its calls, and a bandit's pulls. Lists begin
// with generation 1, and are empty if the file lacks the data.
type spent struct {
	flops, seconds []float64
	prompt, answer []float64   // tokens
	pulls          []int       // by round, the arm
	arms           [][]float64 // by arm, its best score after 0, 1, ... pulls
	armSeeds       []int64
}

// A spentJSON is the part of a result file that spent is read from.
type spentJSON struct {
	PerGeneration []float64 `json:"flops_per_generation"`
	PerRound      []float64 `json:"flops_per_round"`
	Trajectory    []rowJSON `json:"trajectory"`
	Selections    []int     `json:"selections"`
	ArmSeeds      []int64   `json:"arm_seeds"`
	Arms          []struct {
		Trajectory []rowJSON `json:"trajectory"`
	} `json:"arm_results"`
}

type rowJSON struct {
	Best     float64    `json:"best_fitness"`
	Seconds  float64    `json:"gen_time_s"`
	Children []callJSON `json:"children"`
	Asides   []callJSON `json:"asides"`
}

type callJSON struct {
	Attempts []struct {
		Usage *struct {
			Prompt int `json:"prompt_tokens"`
			Answer int `json:"completion_tokens"`
		} `json:"usage"`
	} `json:"attempts"`
}

// readSpent reads a result that [analysis.Read] has accepted.
func readSpent(b []byte) (spent, error) {
	var f spentJSON
	if err := json.Unmarshal(b, &f); err != nil {
		return spent{}, err
	}
	s := spent{flops: f.PerGeneration, pulls: f.Selections, arms: f.bests(), armSeeds: f.ArmSeeds}
	if f.Arms != nil {
		s.flops = f.PerRound
	}
	for _, row := range f.rows() {
		prompt, answer := row.tokens()
		s.seconds, s.prompt, s.answer = append(s.seconds, row.Seconds), append(s.prompt, prompt), append(s.answer, answer)
	}
	return s, nil
}

// rows returns the generations from the first on, or a bandit's rounds in order.
func (f spentJSON) rows() []rowJSON {
	if f.Arms == nil {
		return f.Trajectory[min(1, len(f.Trajectory)):]
	}
	var rows []rowJSON
	pulled := make([]int, len(f.Arms))
	for _, arm := range f.Selections {
		pulled[arm]++ // Read has checked that there is such an arm
		if t := f.Arms[arm].Trajectory; pulled[arm] < len(t) {
			rows = append(rows, t[pulled[arm]])
		}
	}
	return rows
}

// bests returns each arm's best score after 0, 1, ... pulls.
func (f spentJSON) bests() [][]float64 {
	var all [][]float64
	for _, arm := range f.Arms {
		var best []float64
		for i, row := range arm.Trajectory {
			best = append(best, row.Best)
			if i > 0 {
				best[i] = max(best[i], best[i-1])
			}
		}
		all = append(all, best)
	}
	return all
}

// tokens returns the tokens of a row's calls, in all attempts.
func (r rowJSON) tokens() (prompt, answer float64) {
	for _, calls := range [][]callJSON{r.Children, r.Asides} {
		for _, c := range calls {
			for _, a := range c.Attempts {
				if a.Usage != nil {
					prompt += float64(a.Usage.Prompt)
					answer += float64(a.Usage.Answer)
				}
			}
		}
	}
	return prompt, answer
}

// dollars returns the price of each generation at a price for a million tokens of each kind.
func (s spent) dollars(prompt, answer float64) []float64 {
	list := make([]float64, len(s.prompt))
	for i := range list {
		list[i] = (s.prompt[i]*prompt + s.answer[i]*answer) / 1e6
	}
	return list
}

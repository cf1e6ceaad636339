package ensemble

import (
	"fmt"
	"strings"
	"text/tabwriter"

	"github.com/evoalloc/evoalloc/llm"
)

// A Report is an ensemble's use of its members so far. It marshals to JSON.
type Report struct {
	Members []MemberReport `json:"members"` // in the order of the configuration
	Unknown int            `json:"unknown"` // outcomes of models that are not members
}

// A MemberReport counts one model's calls in this incarnation of the run. Learned outcomes include those of earlier
// incarnations.
type MemberReport struct {
	Model            string  `json:"model"`
	ActiveParams     int64   `json:"active_params,omitempty"`
	Calls            int     `json:"calls"` // draws that led to an attempt
	Attempts         int     `json:"attempts"`
	PromptTokens     int     `json:"prompt_tokens"`
	CompletionTokens int     `json:"completion_tokens"`
	InFlight         int     `json:"in_flight"` // calls made whose outcome is not known yet
	Learned          int     `json:"learned"`   // outcomes that counted
	Skipped          int     `json:"skipped"`   // outcomes that did not count
	Valid            int     `json:"valid"`     // of Learned, those with a program that was scored
	MeanReward       float64 `json:"mean_reward"`
}

type stats struct {
	MemberReport
	reward float64
}

func (s *stats) count(attempts []llm.Attempt) {
	s.Calls++
	s.Attempts += len(attempts)
	for _, a := range attempts {
		if a.Usage != nil {
			u := a.Usage.Clean()
			s.PromptTokens += u.PromptTokens
			s.CompletionTokens += u.CompletionTokens
		}
	}
}

func (s *stats) learn(o llm.Outcome, reward float64) {
	s.Learned++
	s.reward += reward
	if o.Valid {
		s.Valid++
	}
}

// Report returns a snapshot.
func (e *Ensemble) Report() Report {
	e.mu.Lock()
	defer e.mu.Unlock()
	r := Report{Unknown: e.unknown}
	for i, m := range e.cfg.Members {
		s := e.stats[i].MemberReport
		s.Model, s.ActiveParams = m.Model.Key, m.Model.ActiveParams
		if s.Learned > 0 {
			s.MeanReward = e.stats[i].reward / float64(s.Learned)
		}
		for d, ids := range e.inFlight {
			if d.arm == i {
				s.InFlight += len(ids)
			}
		}
		r.Members = append(r.Members, s)
	}
	return r
}

// String prints a table with a line a model.
func (r Report) String() string {
	var b strings.Builder
	w := tabwriter.NewWriter(&b, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(w, "model\tcalls\tlearned\tvalid\tmean reward\t")
	for _, m := range r.Members {
		fmt.Fprintf(w, "%s\t%d\t%d\t%d\t%.3f\t\n", m.Model, m.Calls, m.Learned, m.Valid, m.MeanReward)
	}
	w.Flush()
	return b.String()
}

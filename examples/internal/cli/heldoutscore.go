package cli

import (
	"context"
	"fmt"
	"math"
	"slices"
	"sync"

	"gonum.org/v1/gonum/stat"
	"gonum.org/v1/gonum/stat/distuv"

	"github.com/evoalloc/evoalloc/eval"
	"github.com/evoalloc/evoalloc/evolve/history"
	"github.com/evoalloc/evoalloc/evolve/result"
	"github.com/evoalloc/evoalloc/internal/printable"
	"github.com/evoalloc/evoalloc/llm"
	"github.com/evoalloc/evoalloc/task"
)

// minGapCases is the fewest cases on each side for which a [result.Gap] is computed.
const minGapCases = 5

// scoreHeld scores the best program of a run on the cases that t keeps from searches ([task.HeldOut]). It returns
// nil if t has none or best is not valid. m is what calls of models are charged as.
//
// A gap between the two scores has the interval of Welch's t over the scores of the cases: with means x̄ and ȳ,
// variances s² and numbers n of the searched and the held-out cases, x̄ − ȳ ± t·√(s_x²/n_x + s_y²/n_y), where t is the
// 0.975 quantile of Student's distribution with Welch and Satterthwaite's degrees of freedom. If the lower end is above
// 0, Note says so. The searched score is the best of many and so expected to be a little high; the interval does not
// account for that. A panic of the task is an error, so that the run's result is not lost. Calls go through the Ask of
// ctx's [llm.Trace], which may keep their replies.
func scoreHeld(ctx context.Context, t task.Task, best eval.Candidate, m llm.Model) (*result.HeldOut, error) {
	if !best.Result.Valid {
		return nil, nil
	}
	asked := collector{through: llm.TraceOf(ctx).Ask}
	r, ok, err := heldOut(llm.WithTrace(ctx, &llm.Trace{Ask: asked.ask}), t, best.Program)
	if !ok {
		return nil, nil
	}
	h := newHeldOut(best.Result, r.Clean())
	asked.count(h, m.WithDefaults().ActiveParams)
	if err != nil {
		h.Reason = printable.Line(err.Error())
		return h, fmt.Errorf("scoring held-out cases: %w", err)
	}
	return h, nil
}

// heldOut is task.HeldOut with a panic as an error.
func heldOut(ctx context.Context, t task.Task, program string) (r eval.Result, ok bool, err error) {
	defer func() {
		if v := recover(); v != nil {
			ok, err = true, fmt.Errorf("HeldOut panicked: %v", v)
		}
	}()
	return task.HeldOut(ctx, t, program)
}

// newHeldOut compares what was searched for with what was held out.
func newHeldOut(searched, held eval.Result) *result.HeldOut {
	h := &result.HeldOut{Searched: searched.Score, SearchedCases: len(searched.Cases)}
	if !held.Valid {
		h.Reason = held.Reason
		return h
	}
	h.Score, h.Metrics, h.Cases = held.Score, held.Metrics, len(held.Cases)
	if min(h.Cases, h.SearchedCases) < minGapCases {
		return h
	}
	if h.Gap = gap(searched.Cases, held.Cases); h.Gap != nil && h.Gap.Low > 0 {
		h.Note = fmt.Sprintf("the held-out score %.6g is lower than the searched score %.6g by more than chance "+
			"explains: the gap is %.6g, 95 %% interval %.6g to %.6g (Welch's t over %d and %d cases). The program fits the "+
			"cases that it was scored on better than others like them",
			h.Score, h.Searched, h.Gap.Mean, h.Gap.Low, h.Gap.High, h.SearchedCases, h.Cases)
	}
	return h
}

// rounding is by how much two means may differ, in parts of the larger one, because their sums were rounded.
const rounding = 1e-12

// gap returns the difference of the means of x and y with Welch's interval, or nil if that is not finite.
func gap(x, y []float64) *result.Gap {
	mx, vx := stat.MeanVariance(x, nil)
	my, vy := stat.MeanVariance(y, nil)
	ex, ey := vx/float64(len(x)), vy/float64(len(y))
	d := mx - my
	if math.Abs(d) <= rounding*max(math.Abs(mx), math.Abs(my)) {
		d = 0
	}
	if ex+ey == 0 {
		return &result.Gap{Mean: d, Low: d, High: d}
	}
	df := (ex + ey) * (ex + ey) / (ex*ex/float64(len(x)-1) + ey*ey/float64(len(y)-1))
	half := distuv.StudentsT{Sigma: 1, Nu: df}.Quantile(0.975) * math.Sqrt(ex+ey)
	if math.IsNaN(d) || math.IsNaN(half) || math.IsInf(d+half, 0) {
		return nil
	}
	return &result.Gap{Mean: d, Low: d - half, High: d + half}
}

// A collector keeps the attempts of calls.
type collector struct {
	through  func(context.Context, llm.LLM, llm.Request) (llm.Reply, error)
	mu       sync.Mutex
	attempts []llm.Attempt
	answered int
}

func (c *collector) ask(ctx context.Context, l llm.LLM, req llm.Request) (llm.Reply, error) {
	reply, err := c.through(ctx, l, req)
	c.mu.Lock()
	defer c.mu.Unlock()
	c.attempts = append(c.attempts, reply.Attempts...)
	if err == nil {
		c.answered++
	}
	return reply, err
}

// count enters what was asked.
func (c *collector) count(h *result.HeldOut, active int64) {
	c.mu.Lock()
	defer c.mu.Unlock()
	h.Use = result.Use{Calls: c.answered, Tokens: history.Prices(nil).Call(c.attempts).Tokens}
	if len(c.attempts) > 0 {
		cost := result.NewCost(slices.Values(c.attempts), active)
		h.FLOPs = &cost
	}
}

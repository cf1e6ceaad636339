package agent

import (
	"context"
	"fmt"
	"sync"

	"github.com/evoalloc/evoalloc/evolve"
	"github.com/evoalloc/evoalloc/llm"
)

// A meter holds the calls of one session within its Bounds: the most that a call can cost is set aside before it is
// sent. It is safe for concurrent use.
type meter struct {
	Bounds      // whose Calls are those that the run's budget has for the session
	short  bool // of calls, by that budget

	mu       sync.Mutex
	ended    *sync.Cond // signaled when a call has ended
	underway int
	calls    int
	spent    cost
	held     cost // by calls under way
	over     bool
}

// A cost is what calls cost, or may cost.
type cost struct {
	tokens int
	money  float64
}

func (c cost) plus(d cost) cost { return cost{c.tokens + d.tokens, c.money + d.money} }

// newMeter returns the meter of a session, which sets its calls aside in the run's budget.
func newMeter(ctx context.Context, b Bounds, w *evolve.Work) (m *meter, err error) {
	if err := b.validate(); err != nil {
		return nil, broken(ctx, err)
	}
	m = &meter{Bounds: b.filled()}
	m.ended = sync.NewCond(&m.mu)
	m.Calls, err = w.Reserve(ctx, m.Calls)
	m.short = m.Calls < b.filled().Calls
	return m, err
}

// worst returns the most that an attempt at req can cost.
func (b Bounds) worst(req llm.Request) cost {
	u := llm.Usage{PromptTokens: llm.PromptTokens(req), CompletionTokens: b.MaxTokens}
	if req.MaxTokens != nil {
		u.CompletionTokens = *req.MaxTokens
	}
	u = u.Clean()
	return cost{u.PromptTokens + u.CompletionTokens, b.Price.Cost(u)}
}

// used returns what the attempts at a request cost. Where the endpoint keeps usage to itself, tokens are the most that
// the prompt has and those that were streamed.
func (b Bounds) used(req llm.Request, attempts []llm.Attempt) (sum cost) {
	for _, a := range attempts {
		var u llm.Usage
		switch {
		case a.Usage != nil:
			u = a.Usage.Clean()
		case a.Status != llm.Failed && !a.Unsent:
			u = llm.Usage{PromptTokens: llm.PromptTokens(req), CompletionTokens: a.Streamed}
		}
		sum = sum.plus(cost{u.PromptTokens + u.CompletionTokens, b.Price.Of(a, u)})
	}
	return sum
}

// begin sets aside what req may cost, once that fits beside the calls under way, or returns why the session may not make
// the call. settle ends a call that was begun.
func (m *meter) begin(req llm.Request) (why string, settle func([]llm.Attempt)) {
	w := m.worst(req)
	m.mu.Lock()
	defer m.mu.Unlock()
	for !m.over && m.underway > 0 && m.full(m.spent.plus(m.held).plus(w)) != "" {
		m.ended.Wait()
	}
	if m.over {
		return "the session has ended", nil
	}
	if why := m.full(m.spent.plus(m.held).plus(w)); why != "" {
		return why, nil
	}
	m.calls++
	m.underway++
	m.held = m.held.plus(w)
	return "", func(attempts []llm.Attempt) {
		m.mu.Lock()
		defer m.mu.Unlock()
		m.underway--
		m.held = m.held.plus(cost{-w.tokens, -w.money})
		m.spent = m.spent.plus(m.used(req, attempts))
		m.ended.Broadcast()
	}
}

// full returns the bound that leaves no room for one more call by which the session would have cost c, or "". mu is held.
func (m *meter) full(c cost) string {
	switch {
	case m.calls >= m.Calls && m.short:
		return fmt.Sprintf("the budget had %d calls left for it", m.Calls)
	case m.calls >= m.Calls:
		return fmt.Sprintf("%d calls are the most", m.Calls)
	case c.tokens > m.Tokens:
		return fmt.Sprintf("the next call may pass %d tokens, which are the most", m.Tokens)
	case m.Money > 0 && c.money > m.Money:
		return fmt.Sprintf("the next call may pass %v, which is the most that it may cost", m.Money)
	}
	return ""
}

// drain waits until no call is under way, since those that were sent are paid for, or until ctx ends.
func (m *meter) drain(ctx context.Context) {
	defer context.AfterFunc(ctx, func() {
		m.mu.Lock()
		defer m.mu.Unlock()
		m.ended.Broadcast()
	})()
	m.mu.Lock()
	defer m.mu.Unlock()
	for m.underway > 0 && ctx.Err() == nil {
		m.ended.Wait()
	}
}

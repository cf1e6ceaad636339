package evolve

import "sync/atomic"

// pauses counts the calls of a batch that pause before a retry. It is safe for concurrent use.
type pauses struct {
	n     atomic.Int64
	begun chan struct{} // holds a value when one began
}

// begin is the Paused of an llm.Trace. It never blocks: a model may leave a call behind that pauses when its batch
// has come to its end.
func (p *pauses) begin() (resumed func()) {
	p.n.Add(1)
	select {
	case p.begun <- struct{}{}:
	default:
	}
	return func() { p.n.Add(-1) }
}

func (p *pauses) count() int { return int(p.n.Load()) }

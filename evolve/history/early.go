package history

import (
	"slices"

	"github.com/evoalloc/evoalloc/evolve/internal/record"
)

// An early program was evaluated before an arm was drawn. Journals of earlier versions do not tell otherwise what arms
// begin with.
type early struct {
	Start
	key string // of its first evaluation
}

// evaluation takes in what a program scored.
func (b *builder) evaluation(r record.Record) {
	if r.Result == nil {
		return
	}
	b.run.Evaluated++
	b.run.EvalTime += int64(r.Took)
	if why := b.reasons[r.Program]; !r.Result.Valid && why == "" {
		b.reasons[r.Program] = r.Result.Reason
	} else if r.Result.Valid && why == "" && !b.states {
		b.reasons[r.Program] = ""
	}
	if b.drawn {
		return
	}
	i := slices.IndexFunc(b.early, func(e early) bool { return e.Program == r.Program })
	if i < 0 {
		b.early = append(b.early, early{Start: Start{Score: Score{r.Result.Score, r.Result.Valid}, Program: r.Program,
			Stamp: r.Time}, key: r.Key})
	} else if b.early[i].key != r.Key { // part by part: the score of the whole is not among those of its parts
		b.early[i].Score = Score{}
	}
}

// begun takes in that an arm is drawn. If no record has told what arms begin with, the programs that were evaluated
// until then do. One is that of all arms. As many as there are arms are theirs in order, because arms are started in
// order. Otherwise some arms share a program and others do not, or an arm evaluated several, and nobody knows.
func (b *builder) begun() {
	if b.drawn {
		return
	}
	b.drawn = true
	defer func() { b.early = nil }()
	arms := b.run.Arms[b.run.FirstArm:]
	told := slices.ContainsFunc(arms, func(a Arm) bool { return a.Start.Known })
	if told || len(b.early) != 1 && len(b.early) != len(arms) {
		return
	}
	for i := range arms {
		start := b.early[min(i, len(b.early)-1)].Start
		start.Reason = b.reasons[start.Program]
		b.begins(b.run.FirstArm+i, start)
	}
}

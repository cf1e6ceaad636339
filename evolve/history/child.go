package history

import (
	"cmp"
	"maps"
	"slices"

	"github.com/evoalloc/evoalloc/evolve/books"
	"github.com/evoalloc/evoalloc/evolve/internal/record"
)

// child takes in a child of a pull and returns its row. If a run that was cut short makes a child again, there are two
// records of it. The last one tells how the run went on, and takes the row of the first.
func (b *builder) child(r record.Record) (row int) {
	if r.Pull == nil || r.Child == nil {
		return -1
	}
	id := callID{r.Key, r.N}
	from, known := b.calls.done[id]
	if from.kind != record.Abandoned { // which is made again
		delete(b.calls.done, id)
	}
	p := b.pulls[*r.Pull]
	if p == nil {
		return -1
	}
	b.stepOf(p, r.Step)
	c := b.proposal(p, r, from, known)
	address := [3]int{p.step, *r.Child, c.ID}
	row, again := p.rows[address]
	switch {
	case again && b.run.Children[row].same(&c):
		// Told again as the run was made again: it cost nothing, and took no time.
		if was := &b.run.Children[row]; was.Gone {
			was.Gone, was.Stamp, was.Record = false, c.Stamp, c.Record
		}
		return row
	case again:
		if was := &b.run.Children[row]; !was.Gone {
			c.Record = was.Record
		}
		b.run.Children[row] = c
		b.run.Best = nil // its place may be another, and so those of others
		for row := range b.run.Children {
			b.rank(row)
		}
	default:
		row = len(b.run.Children)
		b.run.Children = append(b.run.Children, c)
		b.rank(row)
		p.rows[address] = row
	}
	b.run.Arms[p.arm].born[c.ID] = row
	if b.reply != nil && from.text != "" {
		b.reply(row, from.text)
	}
	return row
}

// stepOf moves a pull on to the step that a child names. A pull of several steps has improved on what the search had
// before each of them. Journals of earlier versions name no step.
func (b *builder) stepOf(p *pull, step int) {
	if a := &b.run.Arms[p.arm]; step > 0 && step != p.step {
		if p.step > 0 && len(p.rows) > 0 {
			a.Step()
		}
		p.step, a.Steps = step, max(a.Steps, step)
	}
}

// proposal returns the child that a record tells of.
func (b *builder) proposal(p *pull, r record.Record, from ended, known bool) Child {
	a := &b.run.Arms[p.arm]
	c := Child{Arm: p.arm, Round: p.round, Step: p.step, Index: *r.Child, Proposal: r.Proposal, Model: from.model,
		Program: r.Program,
		Cost:    from.cost, Spent: b.run.Spent.sum(), Time: b.run.Clock.Now(), Stamp: r.Time, Record: b.records}
	c.Parents, c.Labels = append([]int{}, r.Parents...), b.share(r.Labels) // [] of none in JSON, and not null
	if !c.Valid {
		c.Score, c.SD, c.Samples = 0, 0, 0
	}
	c.State, c.Reason = b.became(r, from, known)
	c.Improved = a.Take(c.score())
	return c
}

// same reports whether two children are told of alike.
func (c *Child) same(d *Child) bool {
	return c.ID == d.ID && c.State == d.State && c.Program == d.Program && c.Operator == d.Operator &&
		c.Labels["cell"] == d.Labels["cell"] &&
		c.Labels["island"] == d.Labels["island"] && c.score() == d.score() && slices.Equal(c.Parents, d.Parents)
}

// became says what became of a child, and why it has no score. Journals of earlier versions do not tell, and then it
// follows from what else is known of its program.
func (b *builder) became(r record.Record, from ended, known bool) (state State, reason string) {
	why, judged := b.reasons[r.Program]
	if r.State != "" && !b.states {
		b.states = true
		maps.DeleteFunc(b.reasons, func(_, why string) bool { return why == "" })
	}
	switch {
	case r.State == books.StateValid:
		return r.State, r.Reason
	case r.State != "":
		return r.State, cmp.Or(r.Reason, why, from.reason)
	case r.Valid:
		return books.StateValid, ""
	case r.Program != "" && judged:
		return books.StateInvalid, why
	case r.Program != "":
		return books.StateRefused, "it was not evaluated"
	case known && from.kind == record.Failure:
		return books.StateFailed, from.reason
	}
	return books.StateUnparsed, "no program came of it"
}

// mostBest is how many of the best children are ranked.
const mostBest = 20

// rank puts a row among the best, if it is one of them. Of equal ones the first stays before the others, and of
// equal programs only the first is there.
func (b *builder) rank(row int) {
	of, best := b.run.Children, b.run.Best
	c := &of[row]
	twin := func(at int) bool { return c.Program != "" && of[at].Program == c.Program }
	if !c.Valid || slices.ContainsFunc(best, twin) {
		return
	}
	place := len(best)
	for place > 0 && (c.Score > of[best[place-1]].Score || c.Score == of[best[place-1]].Score && row < best[place-1]) {
		place--
	}
	if place < mostBest {
		best = slices.Insert(best, place, row)
		b.run.Best = best[:min(len(best), mostBest)]
	}
}

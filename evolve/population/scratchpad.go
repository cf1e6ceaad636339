package population

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/evoalloc/evoalloc/evolve"
	"github.com/evoalloc/evoalloc/internal/printable"
	"github.com/evoalloc/evoalloc/llm"
	"github.com/evoalloc/evoalloc/task"
)

// Scratchpad keeps notes that a model writes on what has worked and what has not. Each child is shown a few, drawn at
// random, and each note counts how many children were shown it and how many of these were better than their parent. A
// note that has been shown often, and whose children are better less often than children are in general, is dropped.
// So is the worst one when there is no room for a new one. Notes are never rewritten as a whole, because that makes a
// memory collapse (ACE).
//
// Its calls are asides of the kind "insights". One that fails, or whose answer has no note, changes nothing. Where the
// task's bounds leave notes out, none are asked for.
//
// Source: ShinkaEvolve's scratchpad (arXiv 2509.19349), and the counters of Q. Zhang et al., "Agentic Context
// Engineering" (arXiv 2510.04618).
type Scratchpad struct {
	Every int // children between two calls; 0 means 16
	Most  int // notes that are kept; 0 means 8
	Show  int // notes that a child is shown; 0 means 3
	// Shuffled tells the model of attempts with each other's outcomes. It is the placebo: what it gains, having notes
	// gains, and not what they say.
	Shuffled bool

	notes              []*note
	attempts           []Birth
	children, improved int
}

const (
	newNotes  = 2  // that are taken from an answer
	noteTrial = 16 // children that a note is shown to before it can be dropped for not helping
)

// A note is a thought and what became of the children that were shown it.
type note struct {
	text            string
	shown, improved int
}

// rate is the share of children that a note helped, with one that it helped and one that it did not to begin with.
func (n *note) rate() float64 { return float64(n.improved+1) / float64(n.shown+2) }

var _ Memory = (*Scratchpad)(nil)

// Validate fails if a field is negative.
func (p *Scratchpad) Validate() error {
	names := [...]string{"Every", "Most", "Show"}
	for i, v := range [...]int{p.Every, p.Most, p.Show} {
		if v < 0 {
			return fmt.Errorf("population: Scratchpad.%s is %d: need 0 for the default, or more", names[i], v)
		}
	}
	return nil
}

// Section draws notes for a child.
func (p *Scratchpad) Section(v *View) task.Section {
	var texts []string
	for _, i := range v.Rand.Perm(len(p.notes))[:min(cmp.Or(p.Show, 3), len(p.notes))] {
		texts = append(texts, p.notes[i].text)
	}
	return task.Notes(texts...)
}

// Learn counts what became of notes, and asks for new ones when it is time.
func (p *Scratchpad) Learn(ctx context.Context, s *Season) error {
	if task.Asked(s.Task, task.Request{}).Bounds.Hide(task.ShowNotes) {
		return nil
	}
	for _, b := range s.Births {
		p.count(b)
		if b.HasProgram() {
			p.attempts = append(p.attempts, b)
		}
	}
	p.drop()
	if len(p.attempts) < cmp.Or(p.Every, 16) {
		return nil
	}
	text := p.question(s)
	p.attempts = nil
	reply, err := s.Ask(ctx, "insights", nil, []llm.Message{{Role: llm.User, Content: text}})
	if err != nil {
		if _, refused := evolve.Refused(err); refused || ctx.Err() != nil {
			return err
		}
		return nil // it cost this call; the turn ends the run if the model is gone
	}
	p.take(reply.Text)
	return nil
}

// count counts a child for the notes that it was shown. Where the call brought no answer, notes had no part in it.
func (p *Scratchpad) count(b Birth) {
	if b.Asked() && !b.Answered() {
		return
	}
	p.children++
	better := 0
	if b.Improved() {
		better = 1
	}
	p.improved += better
	for _, n := range p.notes {
		if b.told(n.text) {
			n.shown++
			n.improved += better
		}
	}
}

// drop drops the notes that have had their trial and do not help.
func (p *Scratchpad) drop() {
	usual := float64(p.improved+1) / float64(p.children+2)
	p.notes = slices.DeleteFunc(p.notes, func(n *note) bool { return n.shown >= noteTrial && n.rate() < usual })
}

// question asks for new notes.
func (p *Scratchpad) question(s *Season) string {
	var b strings.Builder
	fmt.Fprintf(&b, "Attempts to raise the score of programs for the task %q, each with the first line that it "+
		"changed:\n\n", s.Task.Name())
	for i, a := range p.attempts {
		outcome := a
		if p.Shuffled {
			outcome = p.attempts[(i+1+len(p.attempts)/2)%len(p.attempts)]
		}
		fmt.Fprintf(&b, "%d. %s\n", i+1, attempt(a, outcome))
	}
	if len(p.notes) > 0 {
		b.WriteString("\nWhat has been noted already:\n\n")
		for _, n := range p.notes {
			fmt.Fprintf(&b, "- %s (shown %d times, better %d times)\n", n.text, n.shown, n.improved)
		}
	}
	fmt.Fprintf(&b, "\nNote what is new: what worked, as it raised the score, and should be tried further, or what did "+
		"not and should be avoided. Reply with at most %d notes of one sentence, each on a line of its own that begins "+
		"with \"- \".\n", newNotes)
	return b.String()
}

// take takes the notes of a reply.
func (p *Scratchpad) take(reply string) {
	left := newNotes
	for line := range strings.Lines(reply) {
		text, ok := strings.CutPrefix(strings.TrimSpace(line), "- ")
		text = bounded(text)
		known := slices.ContainsFunc(p.notes, func(n *note) bool { return n.text == text })
		if !ok || text == "" || known || left == 0 {
			continue
		}
		left--
		p.notes = append(p.notes, &note{text: text})
		if len(p.notes) > cmp.Or(p.Most, 8) {
			p.dropWorst()
		}
	}
}

// dropWorst drops the note with the lowest rate, and of equals the oldest.
func (p *Scratchpad) dropWorst() {
	worst := 0
	for i, n := range p.notes {
		if n.rate() < p.notes[worst].rate() {
			worst = i
		}
	}
	p.notes = slices.Delete(p.notes, worst, worst+1)
}

// bounded returns what a model, a program or a gate wrote in one line of at most 300 characters that can be seen.
func bounded(text string) string {
	const most = 300
	runes := []rune(printable.Line(text))
	return string(runes[:min(len(runes), most)])
}

// String names the memory.
func (p *Scratchpad) String() string {
	name := fmt.Sprintf("Scratchpad(every %d, at most %d", cmp.Or(p.Every, 16), cmp.Or(p.Most, 8))
	if p.Shuffled {
		name += ", shuffled"
	}
	return name + ")"
}

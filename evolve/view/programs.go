package view

import (
	"strings"

	"github.com/evoalloc/evoalloc/evolve/history"
)

// keptText is how many bytes of programs a runLog keeps. The initial programs and those that were the best of their
// search when they came are kept first, and others as long as there is room: the oldest are dropped. What is not kept
// comes from the source of runLog.SetSource.
const keptText = 32 << 20

// keyLength is how much of a program's hash names it in a page. 64 bits do not meet by chance in a run, and the whole
// would be much of a page with 40,000 children.
const keyLength = 16

// shortKey returns how a page names the program with a key of the journal.
func shortKey(key string) string { return key[:min(len(key), keyLength)] }

// programs are the texts of a run.
type programs struct {
	all      map[string]program
	queue    []string // that may be dropped, oldest first
	kept     int      // bytes
	said     map[int]string
	saidSize int
	language string // as the replies name it; "" if they do not
}

// A program is one text, as far as it is kept.
type program struct {
	text         string
	size         int  // of the text, kept or not
	told         bool // the run has a text for it
	have, pinned bool
}

func newPrograms() programs { return programs{all: map[string]program{}, said: map[int]string{}} }

// add takes in a text.
func (p *programs) add(key, text string) {
	key = shortKey(key)
	e := p.all[key]
	if e.have {
		return
	}
	e.text, e.have, e.told = strings.ToValidUTF8(text, "\uFFFD"), true, true
	e.size = len(e.text)
	p.all[key] = e
	p.kept += e.size
	p.queue = append(p.queue, key)
	p.drop()
}

// drop forgets the oldest texts until the others fit.
func (p *programs) drop() {
	for p.kept > keptText && len(p.queue) > 0 {
		key := p.queue[0]
		p.queue = p.queue[1:]
		if e := p.all[key]; !e.pinned {
			p.kept -= e.size
			e.text, e.have = "", false
			p.all[key] = e
		}
	}
}

// pin keeps a text for good.
func (p *programs) pin(key string) {
	e := p.all[key]
	e.pinned = true
	p.all[key] = e
}

// The most that is kept of what models say beside their programs: of one reply, and of all.
const (
	mostSaid    = 4 << 10
	mostAllSaid = 8 << 20
)

// say keeps the words of the reply that a child comes from.
func (p *programs) say(key string, row int, reply string) {
	if reply == "" || p.saidSize >= mostAllSaid {
		return
	}
	if words := beside(reply, p.all[key].text); words != "" {
		p.said[row] = strings.Clone(words) // not to keep the whole reply
		p.saidSize += len(words)
	}
}

// beside returns the words of a reply that stand beside its program, cut to 4 KiB.
func beside(reply, program string) string {
	if program = strings.TrimSpace(program); program != "" {
		if before, after, found := strings.Cut(reply, program); found {
			before, _, _ = cutLast(before, "```")
			_, rest, fenced := strings.Cut(after, "```")
			if !fenced {
				rest = after
			}
			reply = strings.TrimSpace(before) + "\n\n" + strings.TrimSpace(rest)
		}
	}
	return cutText(strings.ToValidUTF8(strings.TrimSpace(reply), "\uFFFD"), mostSaid)
}

// cutLast is strings.Cut at the last place.
func cutLast(s, sep string) (before, after string, found bool) {
	if i := strings.LastIndex(s, sep); i >= 0 {
		return s[:i], s[i+len(sep):], true
	}
	return s, "", false
}

// cutText returns the beginning of s, at most so many bytes with the mark that it is cut.
func cutText(s string, most int) string { return history.Cut(s, most) }

// learn looks for the language that a reply names at its program. The first that is known is the run's.
func (p *programs) learn(reply string) {
	if p.language != "" {
		return
	}
	_, after, found := strings.Cut(reply, "```")
	if !found {
		return
	}
	line, _, _ := strings.Cut(after, "\n")
	if name, _, _ := strings.Cut(strings.TrimSpace(line), " "); len(name) < 32 && lexerOf(name) != nil {
		p.language = name
	}
}

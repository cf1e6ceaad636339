package view

import (
	"strings"

	"github.com/evoalloc/evoalloc/evolve/history"
)

// keptText bounds the bytes of programs in a runLog. The initial programs and those that were the best of their search
// on arrival are always kept, and others as long as there is room, the newest first. Other texts come from the source
// of runLog.SetSource.
const keptText = 32 << 20

// keyLength is how many digits of a program's hash identify it in a page. 64 bits do not collide by chance in a run,
// and whole hashes would be a large part of a page with 40,000 children.
const keyLength = 16

// shortKey returns a page's key for the program with a key of the journal.
func shortKey(key string) string { return key[:min(len(key), keyLength)] }

// programs are the texts of a run.
type programs struct {
	all      map[string]program
	queue    []string // keys of texts that may be dropped, oldest first
	kept     int      // bytes of texts
	said     map[int]string
	saidSize int
	language string // as named in replies; "" if none names it
}

// A program is one text, if it is kept.
type program struct {
	text         string
	size         int  // of the text, kept or not
	told         bool // whether the run has sent its text
	have, pinned bool
}

func newPrograms() programs { return programs{all: map[string]program{}, said: map[int]string{}} }

// add keeps a text.
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

// pin keeps a text permanently.
func (p *programs) pin(key string) {
	e := p.all[key]
	e.pinned = true
	p.all[key] = e
}

// Bounds of the words beside programs that are kept, in bytes: of one reply, and of all.
const (
	mostSaid    = 16 << 10
	mostAllSaid = 8 << 20
)

// say keeps the words of a child's reply.
func (p *programs) say(key string, row int, reply string) {
	if reply == "" || p.saidSize >= mostAllSaid {
		return
	}
	if words := beside(reply, p.all[key].text); words != "" {
		p.said[row] = strings.Clone(words) // so that the whole reply can be freed
		p.saidSize += len(words)
	}
}

// beside returns the words of a reply beside its program, cut to 16 KiB.
func beside(reply, program string) string {
	if strings.HasPrefix(reply, history.Transcript) {
		program = "" // it stands there as it was edited, if at all
	}
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

// cutLast is strings.Cut at the last occurrence.
func cutLast(s, sep string) (before, after string, found bool) {
	if i := strings.LastIndex(s, sep); i >= 0 {
		return s[:i], s[i+len(sep):], true
	}
	return s, "", false
}

// cutText returns s, or its beginning with a mark in at most most bytes.
func cutText(s string, most int) string { return history.Cut(s, most) }

// learn reads the language from the tag of a reply's program. The first known language is the run's.
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

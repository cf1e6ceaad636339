package view

import "slices"

// notes are what befell a run, equal ones counted and not repeated. A server that fails says the same thousands of times.
type notes struct {
	all   []*message
	index map[[2]string]*message
	more  int // distinct ones that were left out
}

// mostNotes is how many distinct messages are kept of each list. One that a server words anew each time (a number of
// the request, a time) must not fill the memory.
const mostNotes = 200

func newNotes() notes { return notes{index: map[[2]string]*message{}} }

// add counts a message, and keeps when it came last.
func (n *notes) add(now int64, kind, text string) {
	text = short(text)
	key := [2]string{kind, text}
	note := n.index[key]
	switch {
	case note != nil:
		note.Count++
		note.Time = now
		return
	case len(n.all) >= mostNotes:
		n.more++
		return
	}
	note = &message{Time: now, Kind: kind, Text: text, Count: 1}
	n.index[key] = note
	n.all = append(n.all, note)
}

// list returns the messages by time.
func (n *notes) list() []message {
	list := n.copied()
	slices.SortStableFunc(list, func(a, b message) int { return int(a.Time - b.Time) })
	return list
}

// frequent returns the messages, the most frequent first.
func (n *notes) frequent() []message {
	list := n.copied()
	slices.SortStableFunc(list, func(a, b message) int { return b.Count - a.Count })
	return list
}

func (n *notes) copied() []message {
	list := make([]message, 0, len(n.all))
	for _, note := range n.all {
		list = append(list, *note)
	}
	if n.more > 0 {
		list = append(list, message{Kind: "more", Text: "other messages, each with words of its own", Count: n.more})
	}
	return list
}

package llm

import (
	"cmp"
	"fmt"
	"strings"
	"unicode/utf8"
)

// missing makes the error for a request that was not recorded.
func (r *Replayer) missing(req Request) error {
	near := r.nearest(req)
	if near == nil {
		return r.notRecorded("request %.12s is not in the recording, which holds none", Key(req))
	}
	return r.notRecorded("request %.12s is not in the recording; the nearest of %d (line %d) has %s",
		Key(req), len(r.byKey), near.line, strings.Join(differences(near.req, req), ", "))
}

func (r *Replayer) notRecorded(format string, args ...any) error {
	text := fmt.Sprintf("llm: replay of %s: ", r.name) + fmt.Sprintf(format, args...)
	return wording{text, []error{ErrNotRecorded, ErrUnavailable}}
}

// nearest returns the recorded request that is most like req: the messages first, then the
// sampling, then the seed. It is nil if there is none.
func (r *Replayer) nearest(req Request) *recorded {
	p, ok := r.prompts[Digest(Request{Messages: req.Messages})]
	if !ok {
		p = r.nearestPrompt(req.Messages)
	}
	if p == nil {
		return nil
	}
	best := p.requests[0]
	for _, rec := range p.requests[1:] {
		if c := cmp.Compare(len(sampling(rec.req, req)), len(sampling(best.req, req))); c < 0 ||
			c == 0 && gap(rec.req.Seed, req.Seed) < gap(best.req.Seed, req.Seed) {
			best = rec
		}
	}
	return best
}

// maxCompared bounds the bytes that nearestPrompt looks at, so that a miss takes well under a
// second whatever the recording.
const maxCompared = 256 << 20

// nearestPrompt returns the prompt with the least [distance] from messages, the first of equals.
func (r *Replayer) nearestPrompt(messages []Message) (best *prompt) {
	least, budget := 0, maxCompared
	for _, p := range r.order {
		d := distance(p.messages, messages)
		if best == nil || d < least {
			best, least = p, d
		}
		for _, m := range p.messages {
			budget -= len(m.Content)
		}
		if budget < 0 {
			break
		}
	}
	return best
}

// distance is the number of bytes, in both, that are neither in the common beginning nor in the
// common end of messages that stand at the same place. It is an upper bound of the edit distance
// without substitution that takes linear time.
func distance(a, b []Message) (d int) {
	for i := range max(len(a), len(b)) {
		var x, y Message
		if i < len(a) {
			x = a[i]
		}
		if i < len(b) {
			y = b[i]
		}
		if x.Role != y.Role {
			d++
		}
		pre := commonPrefix(x.Content, y.Content)
		suf := commonSuffix(x.Content[pre:], y.Content[pre:])
		d += len(x.Content) + len(y.Content) - 2*(pre+suf)
	}
	return d
}

func commonPrefix(a, b string) int {
	n := min(len(a), len(b))
	i := 0
	for ; i+256 <= n && a[i:i+256] == b[i:i+256]; i += 256 { // whole blocks at memory speed
	}
	for i < n && a[i] == b[i] {
		i++
	}
	return i
}

func commonSuffix(a, b string) int {
	i, n := 0, min(len(a), len(b))
	for ; i+256 <= n && a[len(a)-i-256:len(a)-i] == b[len(b)-i-256:len(b)-i]; i += 256 {
	}
	for i < n && a[len(a)-1-i] == b[len(b)-1-i] {
		i++
	}
	return i
}

func gap(a, b uint32) uint32 { return max(a, b) - min(a, b) }

// differences lists what have has instead of what want asks for.
func differences(have, want Request) []string {
	out := sampling(have, want)
	if have.Seed != want.Seed {
		out = append(out, fmt.Sprintf("seed %d instead of %d", have.Seed, want.Seed))
	}
	if len(have.Messages) != len(want.Messages) {
		out = append(out, fmt.Sprintf("%d messages instead of %d", len(have.Messages), len(want.Messages)))
	}
	for i := range min(len(have.Messages), len(want.Messages)) {
		if h, w := have.Messages[i], want.Messages[i]; h != w {
			return append(out, messageDifference(i, h, w))
		}
	}
	return out
}

// sampling lists the overrides that differ.
func sampling(have, want Request) (out []string) {
	out = override(out, "temperature", have.Temperature, want.Temperature)
	out = override(out, "top-p", have.TopP, want.TopP)
	return override(out, "max tokens", have.MaxTokens, want.MaxTokens)
}

func override[T int | float64](out []string, name string, have, want *T) []string {
	show := func(x *T) string {
		if x == nil {
			return "none"
		}
		return fmt.Sprint(*x)
	}
	if show(have) == show(want) {
		return out
	}
	return append(out, fmt.Sprintf("%s %s instead of %s", name, show(have), show(want)))
}

// messageDifference shows where message i begins to differ.
func messageDifference(i int, have, want Message) string {
	if have.Role != want.Role {
		return fmt.Sprintf("role %.20q instead of %.20q in message %d", have.Role, want.Role, i+1)
	}
	at := commonPrefix(have.Content, want.Content)
	line := 1 + strings.Count(want.Content[:at], "\n")
	return fmt.Sprintf("%q instead of %q in message %d (%.20s), line %d, byte %d",
		around(have.Content, at), around(want.Content, at), i+1, want.Role, line, at)
}

// around returns some text of s about byte at, cut between characters, with dots where it is cut.
func around(s string, at int) string {
	from, to := max(0, at-12), min(len(s), at+28)
	for from > 0 && !utf8.RuneStart(s[from]) {
		from--
	}
	for to < len(s) && !utf8.RuneStart(s[to]) {
		to++
	}
	out := s[from:to]
	if from > 0 {
		out = "..." + out
	}
	if to < len(s) {
		out += "..."
	}
	return out
}

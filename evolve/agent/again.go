package agent

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"fmt"
	"hash/crc32"
	"log/slog"
	"math"
	"math/big"
	"slices"
	"strings"
	"time"

	"github.com/evoalloc/evoalloc/evolve"
	"github.com/evoalloc/evoalloc/llm"
)

// A place is what an agent finds as it was when its session is made again after a kill. Agents put paths and times into
// their prompts, and a request that differs is paid for again.
type place struct {
	Number uint64    `json:"number"` // of the folder
	Time   time.Time `json:"time"`   // of the files
	Token  string    `json:"token"`  // of the gateway's session
}

// placeOf returns the place of a session, which the journal keeps.
func placeOf(ctx context.Context, w *evolve.Work) (p place, err error) {
	text, err := w.Remember(ctx, "place", func(context.Context) (string, error) {
		number, _ := rand.Int(rand.Reader, big.NewInt(math.MaxInt64)) // which never fails
		text, err := json.Marshal(place{number.Uint64(), time.Now().Truncate(time.Second), "sk-" + rand.Text()})
		return string(text), err
	})
	if err == nil {
		err = json.Unmarshal([]byte(text), &p)
	}
	return p, err
}

// An outline is a request as the journal keeps it to tell a later one from it: a sum for each line, without the messages
// that the one before it had too.
type outline struct {
	sums  []string
	lines []string
	at    []int // message of each line
}

func outlineOf(req llm.Request, before []llm.Message) (o outline) {
	for i, m := range req.Messages {
		if i < len(before) && same(m, before[i]) {
			continue
		}
		text := m.Content
		for _, c := range m.Calls {
			text += "\n" + c.ID + " " + c.Name + " " + c.Arguments
		}
		for line := range strings.Lines(m.Role + "\n" + text) {
			o.sums = append(o.sums, fmt.Sprintf("%04x", crc32.ChecksumIEEE([]byte(line))&0xffff))
			o.lines, o.at = append(o.lines, line), append(o.at, i)
		}
	}
	return o
}

func same(a, b llm.Message) bool {
	return a.Role == b.Role && a.Content == b.Content && a.CallID == b.CallID && slices.Equal(a.Calls, b.Calls)
}

// differs says where o first differs from a request of which the journal has was, "" if nowhere.
func (o outline) differs(was string) string {
	then := strings.Fields(was)
	for i, sum := range o.sums {
		if i == len(then) || sum != then[i] {
			return fmt.Sprintf("message %d: %.200q", o.at[i]+1, o.lines[i])
		}
	}
	if len(then) > len(o.sums) {
		return fmt.Sprintf("after message %d, which was the last then and is not now", len(o.at))
	}
	return ""
}

// compare says of a request that the session asked for otherwise before a kill where it first differs. Its answer then
// is lost.
func (t *till) compare(ctx context.Context, req llm.Request) error {
	t.mu.Lock()
	now := outlineOf(req, t.before)
	t.before = req.Messages
	t.mu.Unlock()
	// By the size of the request, as agents ask for several things at once, and which comes first is chance.
	what := fmt.Sprintf("request of %d messages and %d tools", len(req.Messages), len(req.Tools))
	was, err := t.work.Remember(ctx, what, func(context.Context) (string, error) { return strings.Join(now.sums, " "), nil })
	if err != nil {
		return err
	}
	if where := now.differs(was); where != "" {
		t.work.Note("a " + what + " differs from that before the kill in " + where)
		slog.Warn("agent: a session that is made again after a kill asks for something else, which is paid for again",
			"request", what, "differs", where)
	}
	return nil
}

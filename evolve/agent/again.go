package agent

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"fmt"
	"hash/crc32"
	"log/slog"
	random "math/rand/v2"
	"strings"
	"time"

	"github.com/evoalloc/evoalloc/evolve"
	"github.com/evoalloc/evoalloc/internal/printable"
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
		text, err := json.Marshal(place{random.Uint64N(1<<63) + 1, time.Now().Truncate(time.Second), "sk-" + rand.Text()})
		return string(text), err
	})
	if err == nil {
		err = json.Unmarshal([]byte(text), &p)
	}
	return p, err
}

// compare says of a request that the session asked for otherwise before a kill where it first differs. The answer that
// was paid for is lost then.
func (t *till) compare(ctx context.Context, req llm.Request) error {
	var now []string // a sum of each message
	for _, m := range req.Messages {
		now = append(now, fmt.Sprintf("%08x", crc32.ChecksumIEEE(fmt.Append(nil, m))))
	}
	// By the size of the request, as agents ask for several things at once, and which comes first is chance.
	what := fmt.Sprintf("request of %d messages and %d tools", len(req.Messages), len(req.Tools))
	text, err := t.work.Remember(ctx, what, func(context.Context) (string, error) { return strings.Join(now, " "), nil })
	for i, was := range strings.Fields(text) {
		if was != now[i] {
			where := fmt.Sprintf("message %d of a %s: %.2000q", i+1, what, req.Messages[i].Content)
			t.work.Note("asked otherwise than before the kill, first in " + where)
			slog.Warn("agent: a session that is made again after a kill asks for something else, which is paid for again",
				"differs", printable.Line(where))
			break
		}
	}
	return err
}

package cli

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"sync"

	"github.com/evoalloc/evoalloc/internal/wal"
	"github.com/evoalloc/evoalloc/llm"
)

// Answers keep what a model is asked after a run, when no journal records it: each reply is on disk before it is used,
// and a process that goes on after a kill finds it there. The file is made before the first
// is asked for. Once one cannot be kept, nothing more is asked for. Answers are safe for concurrent use.
type answers struct {
	path   string // of the file; "" keeps nothing
	run    string // a hash of what decides the run that asks
	others bool   // the file has answers of other runs too

	mu     sync.Mutex
	err    error                    // why answers cannot be kept
	log    *wal.Log                 // nil before there is a file
	known  map[string][]llm.Reply   // by what was asked: replies of earlier processes that nothing asked for yet
	failed map[string][]llm.Attempt // attempts that brought none, and are in no reply yet
}

// An answer is a record of the file.
type answer struct {
	Run    string    `json:"run"`
	Asked  string    `json:"asked"` // the digest of the request
	Failed bool      `json:"failed,omitempty"`
	Reply  llm.Reply `json:"reply"`
}

// openAnswers returns what the file at path has, if there is one.
func openAnswers(path, run string) (*answers, error) {
	a := &answers{path: path, run: run, known: map[string][]llm.Reply{}, failed: map[string][]llm.Attempt{}}
	if path == "" || !exists(path) {
		return a, nil
	}
	var err error
	if a.log, _, err = wal.Open(path, a.read); err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return a, nil
}

// read takes in a record.
func (a *answers) read(e wal.Entry) error {
	var r answer
	err := json.Unmarshal(e.Object, &r)
	switch {
	case err != nil:
		return err
	case r.Run != a.run:
		a.others = true
	case r.Failed:
		a.failed[r.Asked] = append(a.failed[r.Asked], r.Reply.Attempts...)
	default:
		a.known[r.Asked] = append(a.known[r.Asked], a.whole(r.Asked, r.Reply))
	}
	return nil
}

// whole returns a reply with the attempts before it that failed.
func (a *answers) whole(asked string, reply llm.Reply) llm.Reply {
	reply.Attempts = append(a.failed[asked], reply.Attempts...)
	delete(a.failed, asked)
	return reply
}

// ask returns the reply of an earlier process, or asks l and keeps what comes of it. It fits [llm.Trace].
func (a *answers) ask(ctx context.Context, l llm.LLM, req llm.Request) (llm.Reply, error) {
	asked := fmt.Sprintf("%x", req.Digest())
	a.mu.Lock()
	if list := a.known[asked]; len(list) > 0 {
		a.known[asked] = list[1:]
		a.mu.Unlock()
		return list[0], nil
	}
	a.mu.Unlock()
	if err := llm.TraceOf(ctx).Draining(); err != nil {
		return llm.Reply{}, err
	}
	if _, err := a.file(); err != nil {
		return llm.Reply{}, err
	}
	reply, err := l.Generate(ctx, req)
	if len(reply.Attempts) > 0 || err == nil {
		err = errors.Join(err, a.keep(answer{a.run, asked, err != nil, reply}))
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.whole(asked, reply), err
}

// keep writes a record, which is on disk when it returns.
func (a *answers) keep(r answer) error {
	log, err := a.file()
	if log == nil || err != nil {
		return err
	}
	place, err := log.Append(r)
	if err == nil {
		err = log.Sync(place)
	}
	if err == nil {
		return nil
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	a.err = cmp.Or(a.err, fmt.Errorf("%s: %w", a.path, err))
	return a.err
}

// file returns the file, and makes it if there is none yet. It returns nil if nothing is kept, and an error once an
// answer could not be.
func (a *answers) file() (log *wal.Log, err error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.log == nil && a.path != "" && a.err == nil {
		a.log, a.err = wal.Create(a.path)
	}
	return a.log, a.err
}

// close closes the file, and removes it once nothing needs it any more. Answers of other runs stay.
func (a *answers) close(remove bool) error {
	if a.log == nil {
		return nil
	}
	err := a.log.Close()
	if remove && !a.others {
		err = errors.Join(err, os.Remove(a.path))
	}
	return err
}

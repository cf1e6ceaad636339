package record

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/evoalloc/evoalloc/llm"
)

// exchangeVersion is what "v" says in a line of a recording.
const exchangeVersion = 1

// An exchange is one line of a recording.
type exchange struct {
	V       int              `json:"v"`
	Key     string           `json:"key"` // of Request, for tools; Replay goes by the request itself
	Request json.RawMessage  `json:"request"`
	Reply   *llm.Reply       `json:"reply"`
	Err     *llm.ErrorRecord `json:"error,omitempty"`
}

// linePrefix is what a line that was written here begins with.
const linePrefix = `{"v":1,"key":"`

var errNoRecording = errors.New("not a recording")

// beginsLine reports whether a torn line can be the beginning of an exchange, which tells a
// recording that was killed at its first line from another file.
func beginsLine(torn []byte) bool {
	n := min(len(torn), len(linePrefix))
	return string(torn[:n]) == linePrefix[:n]
}

// encodeExchange returns one line, its newline included.
func encodeExchange(req llm.Request, reply llm.Reply, err error) ([]byte, error) {
	canonical := llm.Canonical(req)
	x := exchange{exchangeVersion, llm.Key(req), canonical, &reply, llm.NewErrorRecord(err)}
	var line bytes.Buffer
	enc := json.NewEncoder(&line)
	enc.SetEscapeHTML(false) // programs are full of < and >
	if err := enc.Encode(x); err != nil {
		return nil, err
	}
	return line.Bytes(), nil
}

// decodeExchange reads one line.
func decodeExchange(line []byte) (req llm.Request, reply llm.Reply, err *llm.ErrorRecord, bad error) {
	var x exchange
	if bad := json.Unmarshal(line, &x); bad != nil {
		return req, reply, nil, bad
	}
	switch {
	case x.V != exchangeVersion:
		return req, reply, nil, fmt.Errorf("version %d of an exchange: this program reads %d", x.V, exchangeVersion)
	case len(x.Request) == 0 || x.Request[0] != '{':
		return req, reply, nil, errors.New("no request")
	case x.Reply == nil:
		return req, reply, nil, errors.New("no reply")
	}
	if bad := json.Unmarshal(x.Request, &req); bad != nil {
		return req, reply, nil, fmt.Errorf("request: %w", bad)
	}
	return req, *x.Reply, x.Err, nil
}

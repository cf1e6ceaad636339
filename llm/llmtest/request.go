package llmtest

import (
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"hash/fnv"
	"io"
	"math/rand/v2"
	"net/http"
	"sync"

	"github.com/evoalloc/evoalloc/internal/stream"
	"github.com/evoalloc/evoalloc/llm"
)

// maxRequest bounds the body of a request, in bytes.
const maxRequest = 64 << 20

// A Request is a client's request for a chat completion.
type Request struct {
	llm.Request
	Model         string        `json:"model"`
	Stream        bool          `json:"stream"`
	StreamOptions streamOptions `json:"stream_options"`
	Ordinal       int           `json:"-"` // how many requests arrived before, of any kind
	Occurrence    int           `json:"-"` // how many of them had this seed and these messages: 0 unless it is a retry
	digest        uint64
	fields        map[string]json.RawMessage // of the body
}

// streamOptions are the usage reports that a client wants in a stream.
type streamOptions struct {
	IncludeUsage    bool `json:"include_usage"`          // at its end
	ContinuousUsage bool `json:"continuous_usage_stats"` // in every chunk: an extension of vLLM's
}

// Rand returns a generator addressed by the request's seed, messages and occurrence, and by name, one for each purpose.
func (r Request) Rand(name string) *rand.Rand {
	return stream.New(uint64(r.Seed), name, r.digest+uint64(r.Occurrence))
}

// errUnread means that a request was cut off in transit.
var errUnread = errors.New("llmtest: the client left before its request was read")

// decode reads a request and numbers it.
func (s *Server) decode(w http.ResponseWriter, hr *http.Request, ordinal int) (Request, error) {
	var r Request
	// Read to the end: only then does net/http watch whether the client leaves.
	body, err := io.ReadAll(http.MaxBytesReader(w, hr.Body, maxRequest))
	if _, tooLong := errors.AsType[*http.MaxBytesError](err); err != nil && !tooLong {
		return r, errUnread
	}
	if err != nil {
		return r, fmt.Errorf("llmtest: reading a request: %w", err)
	}
	if err := json.Unmarshal(body, &r); err != nil {
		return r, fmt.Errorf("llmtest: malformed request: %w", err)
	}
	if len(r.Messages) == 0 {
		return r, errors.New("llmtest: request without messages")
	}
	if err := checkTools(r.Request); err != nil {
		return r, fmt.Errorf("llmtest: %w", err)
	}
	r.Ordinal, r.digest = ordinal, digest(r.Request)
	r.Occurrence = s.seen.next(r.digest)
	return r, nil
}

// digest is the FNV-1a hash of a request's content. Lengths come first, so that text cannot move between messages
// unnoticed.
func digest(r llm.Request) uint64 {
	h := fnv.New64a()
	var n [8]byte
	put := func(s string) {
		binary.BigEndian.PutUint64(n[:], uint64(len(s)))
		h.Write(n[:])
		h.Write([]byte(s))
	}
	binary.BigEndian.PutUint32(n[:], r.Seed)
	h.Write(n[:4])
	for _, m := range r.Messages {
		put(m.Role)
		put(m.Content)
		for _, c := range m.Calls {
			put(c.ID + "\x00" + c.Name)
			put(c.Arguments)
		}
		if m.CallID != "" {
			put(m.CallID)
		}
	}
	for _, t := range r.Tools {
		put(t.Name + "\x00" + t.Description)
		put(t.Parameters)
	}
	return h.Sum64()
}

// occurrences counts requests by digest.
type occurrences struct {
	mu sync.Mutex
	n  map[uint64]int
}

func (o *occurrences) next(digest uint64) int {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.n == nil {
		o.n = make(map[uint64]int)
	}
	n := o.n[digest]
	o.n[digest]++
	return n
}

package nats

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/evoalloc/evoalloc/eval"
)

// A job is a program to score. In a message the program is the body.
type job struct {
	Task
	key        string // of the result, see keyOf
	sample     int
	maxDeliver int
	program    string
	tries      int // deliveries, this one included; 0 at the run
}

// The headers of a job.
const (
	sampleHeader     = "Evo-Sample"
	maxDeliverHeader = "Evo-Max-Deliver"
)

// resultKey is the job's key in the bucket of results.
func (j job) resultKey() string { return j.token() + "." + j.Digest + "." + j.key }

func (j job) subject(s Server) string { return s.subject("jobs", j.resultKey()) }

func (j job) message(s Server) *nats.Msg {
	m := nats.NewMsg(j.subject(s))
	m.Header.Set(sampleHeader, strconv.Itoa(j.sample))
	m.Header.Set(maxDeliverHeader, strconv.Itoa(j.maxDeliver))
	m.Data = []byte(j.program)
	return m
}

// reflected reports whether the server sent a message as its answer to a client's request for a stored message. A worker
// may not queue or cancel jobs, but it can store any text as a result and have the server answer to any subject.
func reflected(h nats.Header) bool { return h.Get("Nats-Stream") != "" }

// readJob returns the job in a message, or an error if no run sends such a message.
func readJob(t Task, m jetstream.Msg) (job, error) {
	meta, err := m.Metadata()
	if err != nil {
		return job{}, err
	}
	if reflected(m.Headers()) {
		return job{}, errors.New("the server sent it in answer to another client's request")
	}
	sample, errSample := strconv.Atoi(m.Headers().Get(sampleHeader))
	most, errMost := strconv.Atoi(m.Headers().Get(maxDeliverHeader))
	if err := errors.Join(errSample, errMost); err != nil {
		return job{}, fmt.Errorf("its headers cannot be read: %w", err)
	}
	return job{Task: t, key: lastToken(m.Subject()), sample: sample, maxDeliver: most, program: string(m.Data()),
		tries: int(meta.NumDelivered)}, nil
}

// A record is an evaluation as the server stores it.
type record struct {
	Worker string      `json:"worker"`
	Tries  int         `json:"tries"`
	Took   float64     `json:"took_s"`
	Result eval.Result `json:"result"`
	// Error is why the evaluator failed, or "" if there is a result. A run that asks later removes it and tries again.
	Error string `json:"error,omitempty"`
}

// maxRecord is the size limit, in bytes, of a record in a message.
const maxRecord = minPayload - 16<<10

// text returns the record as JSON. It leaves out artifacts that do not fit into a message. Without them a clean result
// fits.
func (r record) text() ([]byte, error) {
	text, err := json.Marshal(r)
	if err == nil && len(text) > maxRecord {
		r.Result.Artifacts = nil
		text, err = json.Marshal(r)
	}
	return text, err
}

func readRecord(text []byte) (r record, err error) {
	err = json.Unmarshal(text, &r)
	r.Result = r.Result.Clean()
	return r, err
}

// store stores the record of a job, unless there is one. It returns an error if the server did not answer.
func store(ctx context.Context, results jetstream.KeyValue, j job, r record) error {
	text, err := r.text()
	if err != nil {
		return err
	}
	if _, err = results.Create(ctx, j.resultKey(), text); errors.Is(err, jetstream.ErrKeyExists) {
		return nil
	}
	return err
}

// lookup returns the record of a job, or nil if there is none. What is not a record counts as none, and so does an
// error if again is true; both are removed.
func lookup(ctx context.Context, results jetstream.KeyValue, j job, again bool) (*record, error) {
	entry, err := results.Get(ctx, j.resultKey())
	if errors.Is(err, jetstream.ErrKeyNotFound) {
		return nil, nil
	} else if err != nil {
		return nil, err
	}
	r, err := readRecord(entry.Value())
	if err == nil && (r.Error == "" || !again) {
		return &r, nil
	}
	return nil, results.Delete(ctx, j.resultKey(), jetstream.LastRevision(entry.Revision()))
}

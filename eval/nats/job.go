package nats

import (
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/evoalloc/evoalloc/eval"
)

// A job is a program to be scored. Its program is the body of a message and the rest its headers.
type job struct {
	Task
	Key, Apart string
	Sample     int
	Run        string
	Deaths     int
	Lost       time.Duration
	Timeout    time.Duration
	Program    string
}

// The headers of a job.
const (
	hApart, hSample, hRun           = "Evo-Apart", "Evo-Sample", "Evo-Run"
	hDeaths, hLost, hTimeout, hName = "Evo-Deaths", "Evo-Lost", "Evo-Timeout", "Evo-Task"
)

// hReflected is a header of what the server answers of its streams.
const hReflected = "Nats-Stream"

// reflected reports whether a message that comes without headers was not sent by who may send to its subject. Whoever
// asks the server for a stored message names the subject that the answer goes to, and the server sends to any: a worker
// could speak as a run with what it stored as a result.
func reflected(m *nats.Msg) bool { return len(m.Header) > 0 || m.Reply != "" }

// subject returns the job's own subject.
func (j job) subject(s Server) string {
	return s.subject("jobs", j.token(), j.Digest, j.Key, j.Run)
}

// resultSubject returns the subject of the job's result.
func (j job) resultSubject(s Server) string { return s.subject("results", j.token(), j.Digest, j.Key) }

// message returns the job as a message.
func (j job) message(s Server) *nats.Msg {
	m := nats.NewMsg(j.subject(s))
	m.Header.Set(hName, strconv.Quote(j.Name))
	m.Header.Set(hApart, strconv.Quote(j.Apart))
	m.Header.Set(hSample, itoa(j.Sample))
	m.Header.Set(hRun, j.Run)
	m.Header.Set(hDeaths, itoa(j.Deaths))
	m.Header.Set(hLost, j.Lost.String())
	m.Header.Set(hTimeout, j.Timeout.String())
	m.Data = []byte(j.Program)
	return m
}

// readJob returns the job of a message, or an error if it is not one that a run of the task sends.
func readJob(s Server, t Task, m *nats.Msg) (j job, err error) {
	tokens := strings.Split(strings.TrimPrefix(m.Subject, s.subject("jobs")+"."), ".")
	if len(tokens) != 4 || tokens[0] != t.token() || tokens[1] != t.Digest {
		return j, fmt.Errorf("its subject %q is not of the task %v", m.Subject, t)
	}
	if m.Header.Get(hReflected) != "" {
		return j, errors.New("the server sent it for somebody else")
	}
	j = job{Key: tokens[2], Run: tokens[3], Program: string(m.Data)}
	j.Digest = t.Digest
	var errs [6]error
	j.Name, errs[0] = strconv.Unquote(m.Header.Get(hName))
	j.Apart, errs[1] = strconv.Unquote(m.Header.Get(hApart))
	j.Sample, errs[2] = strconv.Atoi(m.Header.Get(hSample))
	j.Deaths, errs[3] = strconv.Atoi(m.Header.Get(hDeaths))
	j.Lost, errs[4] = time.ParseDuration(m.Header.Get(hLost))
	j.Timeout, errs[5] = time.ParseDuration(m.Header.Get(hTimeout))
	switch err := errors.Join(errs[:]...); {
	case err != nil:
		return j, fmt.Errorf("its headers cannot be read: %w", err)
	case j.Name != t.Name:
		return j, fmt.Errorf("it is of the task %q", j.Name)
	case j.Deaths < 1 || j.Lost < minLost || j.Timeout <= 0:
		return j, fmt.Errorf("its limits are out of range: %d deaths, lost after %v, %v in all", j.Deaths, j.Lost, j.Timeout)
	case !j.valid():
		return j, fmt.Errorf("its key %q is not that of its program and sample", j.Key)
	}
	return j, nil
}

// delivery returns how often a message with this reply subject was delivered, this time included, and its sequence in the
// stream: the fifth and sixth token of $JS.ACK.STREAM.CONSUMER.DELIVERED.SEQUENCE..., or the seventh and eighth where the
// server puts its domain and account before the stream.
func delivery(reply string) (times int, sequence uint64) {
	tokens := strings.Split(reply, ".")
	at := 4
	if len(tokens) > 9 {
		at = 6
	}
	if len(tokens) <= at+1 {
		return 1, 0
	}
	n, _ := strconv.Atoi(tokens[at])
	sequence, _ = strconv.ParseUint(tokens[at+1], 10, 64)
	return max(n, 1), sequence
}

// A record is what is stored of an evaluation.
type record struct {
	Task   string      `json:"task"`
	Digest string      `json:"digest"`
	Key    string      `json:"key"`
	Worker string      `json:"worker"`
	Tries  int         `json:"tries"`
	Took   float64     `json:"took_s"`
	Result eval.Result `json:"result"`
	// Large is the name of the object that the result is in, or "" if it is in Result.
	Large string `json:"large,omitempty"`
}

// readRecord returns the record of a result of the task that came on a subject, or an error if it says that it is
// another's.
func readRecord(s Server, t Task, subject string, data []byte) (r record, err error) {
	prefix := s.subject("results", t.token(), t.Digest) + "."
	key, ok := strings.CutPrefix(subject, prefix)
	if !ok {
		return r, fmt.Errorf("its subject %q is not of the task %v", subject, t)
	}
	if err := json.Unmarshal(data, &r); err != nil {
		return r, err
	}
	if r.Key != key || r.Digest != t.Digest || r.Task != t.Name {
		return r, fmt.Errorf("it came as %s and says that it is %s of the task %q, digest %s", key, r.Key, r.Task, r.Digest)
	}
	if r.Large != "" && !strings.HasPrefix(r.Large, largePrefix(t, key)) {
		return r, fmt.Errorf("its object is %q, which is another's", r.Large)
	}
	return r, nil
}

// A call is what a run says each second.
type call struct {
	Run    string `json:"run"`
	Task   string `json:"task"`
	Digest string `json:"digest"`
	// Incarnation is a new one each time that the run is started, so that workers answer it at once.
	Incarnation string `json:"incarnation,omitempty"`
}

// A canceled says that a run gave up a job of its queue.
type canceled struct {
	Digest string `json:"digest"`
	Key    string `json:"key"`
	Run    string `json:"run"`
	// Sequence is the job's in the stream: the same job queued again has another.
	Sequence uint64 `json:"sequence"`
}

// A notice is what a worker tells a run.
type notice struct {
	Kind   string `json:"kind"` // here, began or failed
	Worker string `json:"worker"`
	Digest string `json:"digest,omitempty"`
	Slots  int    `json:"slots,omitempty"`
	Busy   int    `json:"busy,omitempty"`
	Key    string `json:"key,omitempty"`
	Error  string `json:"error,omitempty"`
}

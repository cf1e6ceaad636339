package nats

import "github.com/nats-io/nats.go"

// A call is what a run says each second, so that workers take from its queue.
type call struct {
	Run    string `json:"run"`
	Task   string `json:"task"`
	Digest string `json:"digest"`
	// Incarnation is a new one each time that the run is started, so that workers answer it at once.
	Incarnation string `json:"incarnation,omitempty"`
}

// A cancellation is what a run says of a job of its queue that it gives up.
type cancellation struct {
	Digest string `json:"digest"`
	Key    string `json:"key"`
	Run    string `json:"run"`
	// Sequence is the job's in the stream: the same job queued again has another.
	Sequence uint64 `json:"sequence"`
}

// A notice is what a worker tells a run: with the kind here that it serves the run, with began and failed what became
// of a job.
type notice struct {
	Kind   string `json:"kind"`
	Worker string `json:"worker"`
	Digest string `json:"digest,omitempty"`
	Slots  int    `json:"slots,omitempty"`
	Busy   int    `json:"busy,omitempty"`
	Key    string `json:"key,omitempty"`
	Error  string `json:"error,omitempty"`
}

// reflected reports whether a call, a cancellation or a notice came from the server instead of its sender. Whoever asks
// the server for a stored message names the subject that the answer goes to, and the server sends to any: a worker
// could speak as a run with what it stored as a result. Such an answer has headers, and these messages have none.
func reflected(m *nats.Msg) bool { return len(m.Header) > 0 || m.Reply != "" }

package nats

import "github.com/nats-io/nats.go"

// A call is a run's message to all workers each second, so that they take jobs from its queue.
type call struct {
	Run    string `json:"run"`
	Task   string `json:"task"`
	Digest string `json:"digest"`
	// Incarnation is new each time that the run is started, so that workers answer at once.
	Incarnation string `json:"incarnation,omitempty"`
}

// A cancellation is a run's message to all workers that a job of its queue is canceled.
type cancellation struct {
	Digest string `json:"digest"`
	Key    string `json:"key"`
	Run    string `json:"run"`
	// Sequence is the job's number in the stream: the same job queued again has another.
	Sequence uint64 `json:"sequence"`
}

// A notice is a worker's message to a run. Its kind is here if the worker serves the run, and began or failed for a
// job.
type notice struct {
	Kind   string `json:"kind"`
	Worker string `json:"worker"`
	Digest string `json:"digest,omitempty"`
	Slots  int    `json:"slots,omitempty"`
	Busy   int    `json:"busy,omitempty"`
	Key    string `json:"key,omitempty"`
	Error  string `json:"error,omitempty"`
}

// reflected reports whether a call, a cancellation or a notice came from the server instead of its sender. A client
// that asks the server for a stored message names any subject for the answer, so a worker could store a message as a
// result and have the server send it as a run's. Such an answer has headers, and genuine messages have none.
func reflected(m *nats.Msg) bool { return len(m.Header) > 0 || m.Reply != "" }

package nats

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
)

// api returns the client of JetStream's API. A busy server may take long to answer what changes its disk.
func api(nc *nats.Conn) (jetstream.JetStream, error) {
	return jetstream.New(nc, jetstream.WithDefaultTimeout(answerWithin))
}

// answerWithin is how long an answer of JetStream's API may take, where it is not asked again.
const answerWithin = 30 * time.Second

// present reports whether err says that the stream has a message of the subject already.
func present(err error) bool {
	var api *jetstream.APIError
	return errors.As(err, &api) && (api.ErrorCode == jetstream.JSErrCodeStreamWrongLastSequence ||
		api.ErrorCode == jetstream.JSErrCodeStreamWrongLastSequenceConstant) // which a stream with replicas says
}

// store has a stream store m.
func store(ctx context.Context, js jetstream.JetStream, m *nats.Msg, opts ...jetstream.PublishOpt) error {
	ctx, cancel := context.WithTimeout(ctx, asking)
	defer cancel()
	_, err := js.PublishMsg(ctx, m, opts...)
	return err
}

// storeNew has a stream store m. If there is a message of its subject, the error is present.
func storeNew(ctx context.Context, js jetstream.JetStream, m *nats.Msg) error {
	return store(ctx, js, m, jetstream.WithExpectLastSequencePerSubject(0))
}

// asking is how long an answer of the server may take before it is asked again.
const asking = 3 * time.Second

// lastOf returns the last message that a stream has of a subject, or nil if it has none. The API's own function asks
// for the stream's description first, which would list the keys of all results to workers.
func lastOf(ctx context.Context, nc *nats.Conn, stream, subject string) (*nats.Msg, error) {
	ctx, cancel := context.WithTimeout(ctx, asking)
	defer cancel()
	m, err := nc.RequestWithContext(ctx, "$JS.API.DIRECT.GET."+stream+"."+subject, nil)
	if err != nil {
		return nil, err
	}
	switch status := m.Header.Get("Status"); status {
	case "":
		m.Subject = m.Header.Get("Nats-Subject") // which is the inbox now
		return m, nil
	case "404":
		return nil, nil
	default:
		return nil, fmt.Errorf("nats: reading %s: %s %s", subject, status, m.Header.Get("Description"))
	}
}

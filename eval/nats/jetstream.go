package nats

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
)

// api returns the client of JetStream's API.
func api(nc *nats.Conn) (jetstream.JetStream, error) {
	return jetstream.New(nc, jetstream.WithDefaultTimeout(apiTimeout))
}

// apiTimeout bounds a request to JetStream's API that is not repeated. A busy server takes long to change its disk.
const apiTimeout = 30 * time.Second

// isPresent reports whether err means that the stream already has a message of the subject.
func isPresent(err error) bool {
	var api *jetstream.APIError
	return errors.As(err, &api) && (api.ErrorCode == jetstream.JSErrCodeStreamWrongLastSequence ||
		api.ErrorCode == jetstream.JSErrCodeStreamWrongLastSequenceConstant) // from a stream with replicas
}

// store has a stream store m.
func store(ctx context.Context, js jetstream.JetStream, m *nats.Msg, opts ...jetstream.PublishOpt) error {
	ctx, cancel := context.WithTimeout(ctx, replyTimeout)
	defer cancel()
	_, err := js.PublishMsg(ctx, m, opts...)
	return err
}

// storeNew has a stream store m, unless there is a message of its subject: then isPresent(err).
func storeNew(ctx context.Context, js jetstream.JetStream, m *nats.Msg) error {
	return store(ctx, js, m, jetstream.WithExpectLastSequencePerSubject(0))
}

// replyTimeout bounds a request that is repeated.
const replyTimeout = 3 * time.Second

// lastOf returns the last message of a subject in a stream, or nil if there is none. The API's own function first asks
// for the stream's description, which would list the keys of all results to workers.
func lastOf(ctx context.Context, nc *nats.Conn, stream, subject string) (*nats.Msg, error) {
	ctx, cancel := context.WithTimeout(ctx, replyTimeout)
	defer cancel()
	m, err := nc.RequestWithContext(ctx, "$JS.API.DIRECT.GET."+stream+"."+subject, nil)
	if err != nil {
		return nil, err
	}
	switch status := m.Header.Get("Status"); status {
	case "":
		m.Subject = m.Header.Get("Nats-Subject") // m.Subject is the inbox
		return m, nil
	case "404":
		return nil, nil
	default:
		return nil, fmt.Errorf("nats: reading %s: %s %s", subject, status, m.Header.Get("Description"))
	}
}

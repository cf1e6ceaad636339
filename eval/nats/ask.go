package nats

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
)

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

// lastOf returns the last message that a stream has of a subject, or nil if it has none. The API's own function asks for
// the stream's description first, which would list the keys of all results to workers.
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

// pull takes the next message of a consumer, waiting for it up to wait. It returns nil if there was none. What comes goes
// to inbox, which belongs to one slot.
func pull(nc *nats.Conn, inbox *nats.Subscription, stream, consumer string, wait time.Duration) (*nats.Msg, error) {
	ask := fmt.Sprintf(`{"batch":1,"expires":%d}`, wait)
	if wait == 0 {
		ask = `{"batch":1,"no_wait":true}`
	}
	if err := nc.PublishRequest("$JS.API.CONSUMER.MSG.NEXT."+stream+"."+consumer, inbox.Subject, []byte(ask)); err != nil {
		return nil, err
	}
	m, err := inbox.NextMsg(wait + asking)
	switch {
	case err != nil:
		return nil, err
	case m.Reply != "":
		return m, nil
	}
	switch status := m.Header.Get("Status"); status {
	case "404", "408":
		return nil, nil
	case "503":
		return nil, nats.ErrNoResponders
	default:
		return nil, fmt.Errorf("nats: the queue %s: %s %s", consumer, status, m.Header.Get("Description"))
	}
}

package nats

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/nats-io/nats.go"
)

// What JetStream's API says of a message whose subject has another last sequence than expected.
const (
	wrongLast         = 10071
	wrongLastConstant = 10164
)

// apiError is an error of JetStream's API.
type apiError struct {
	Code        int    `json:"code"`
	ErrCode     int    `json:"err_code"`
	Description string `json:"description"`
}

func (e *apiError) Error() string { return e.Description }

// present reports whether err says that there is a message of the subject already.
func present(err error) bool {
	var api *apiError
	return errors.As(err, &api) && (api.ErrCode == wrongLast || api.ErrCode == wrongLastConstant)
}

// storeNew has the server store m unless it has a message of the subject already, and returns its sequence in the stream
// after it has. subject may have wildcards; "" means that of m.
func storeNew(ctx context.Context, nc *nats.Conn, m *nats.Msg, subject string) (sequence uint64, err error) {
	m.Header.Set("Nats-Expected-Last-Subject-Sequence", "0")
	if subject != "" {
		m.Header.Set("Nats-Expected-Last-Subject-Sequence-Subject", subject)
	}
	return store(ctx, nc, m)
}

// store has the server store m, and returns its sequence in the stream after it has.
func store(ctx context.Context, nc *nats.Conn, m *nats.Msg) (sequence uint64, err error) {
	ctx, cancel := context.WithTimeout(ctx, asking)
	defer cancel()
	reply, err := nc.RequestMsgWithContext(ctx, m)
	if err != nil {
		return 0, err
	}
	var ack struct {
		Stream   string    `json:"stream"`
		Sequence uint64    `json:"seq"`
		Error    *apiError `json:"error"`
	}
	switch err := json.Unmarshal(reply.Data, &ack); {
	case err != nil:
		return 0, err
	case ack.Error != nil:
		return 0, ack.Error
	case ack.Stream == "":
		return 0, fmt.Errorf("nats: storing %s: the server's answer names no stream", m.Subject)
	}
	return ack.Sequence, nil
}

// asking is how long an answer of the server may take before it is asked again.
const asking = 3 * time.Second

// lastOf returns the last message that a stream has of a subject, or nil if it has none.
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

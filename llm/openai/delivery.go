package openai

import (
	"context"
	"net/http"
	"net/http/httptrace"
	"sync/atomic"
)

// A delivery knows whether a request went out. It is safe for concurrent use: the connection's
// goroutines tell of it, also after the request has been given up.
type delivery struct {
	told         bool // the transport tells of all that it does
	sought, sent atomic.Bool
}

// newDelivery returns one for a request that client is to send.
func newDelivery(client *http.Client) *delivery {
	_, told := client.Transport.(*http.Transport)
	return &delivery{told: told || client.Transport == nil}
}

// watch returns ctx for the one request that d is to know of.
func (d *delivery) watch(ctx context.Context) context.Context {
	return httptrace.WithClientTrace(ctx, &httptrace.ClientTrace{
		GetConn:              func(string) { d.sought.Store(true) },
		WroteHeaders:         func() { d.sent.Store(true) },
		GotFirstResponseByte: func() { d.sent.Store(true) },
	})
}

// unsent reports, once the request has ended, whether it certainly never went out. A request that was
// given up before its headers were in the connection's buffer finds that connection closed. A transport
// of the caller's own that was silent may have sent it.
func (d *delivery) unsent() bool { return (d.told || d.sought.Load()) && !d.sent.Load() }

package openai

import (
	"net"
	"net/http"
	"net/http/httptrace"
	"testing"
)

func TestDeliveryIsKnownToTheByte(t *testing.T) {
	const (
		sought = 1 << iota
		connected
		wrote // the headers, to a buffer
		flushed
		answered
	)
	silent := &http.Client{Transport: http.NewFileTransport(http.Dir("."))}
	for _, tt := range []struct {
		reason string
		client *http.Client
		happen int
		counts bool // the connection does
		unsent bool
	}{
		{"given up before it came to the transport", http.DefaultClient, 0, true, true},
		{"given up while there was no connection", http.DefaultClient, sought, true, true},
		{"given up with the headers in a buffer", http.DefaultClient, sought | connected | wrote, true, true},
		{"sent", http.DefaultClient, sought | connected | wrote | flushed, true, false},
		{"answered before it was sent", http.DefaultClient, sought | connected | answered, true, false},
		{"in a buffer, of a connection that does not count", http.DefaultClient, sought | connected | wrote, false, false},
		{"not even there", http.DefaultClient, sought | connected, false, true},
		{"nothing is known of the transport", silent, 0, true, false},
		{"a transport that told of what it did", silent, sought, true, true},
	} {
		here, there := net.Pipe()
		go func() {
			for b := make([]byte, 8); ; {
				if _, err := there.Read(b); err != nil {
					return
				}
			}
		}()
		conn := &countedConn{Conn: here}
		conn.Write([]byte("a request before"))
		d := newDelivery(tt.client)
		trace := httptrace.ContextClientTrace(d.watch(t.Context()))
		if tt.happen&sought > 0 {
			trace.GetConn("host:80")
		}
		if info := (httptrace.GotConnInfo{Conn: conn}); tt.happen&connected > 0 {
			if !tt.counts {
				info.Conn = here
			}
			trace.GotConn(info)
		}
		if tt.happen&wrote > 0 {
			trace.WroteHeaders()
		}
		if tt.happen&flushed > 0 {
			conn.Write([]byte("POST"))
		}
		if tt.happen&answered > 0 {
			trace.GotFirstResponseByte()
		}
		conn.Close()
		conn.Write([]byte("too late"))
		if d.unsent() != tt.unsent {
			t.Errorf("%s: unsent is %v", tt.reason, !tt.unsent)
		}
		there.Close()
	}
}

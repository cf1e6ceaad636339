package openai

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strings"
	"syscall"
	"time"

	"github.com/evoalloc/evoalloc/llm"
)

// newTransport returns a transport for many requests in flight at one host.
func newTransport() *http.Transport {
	dialer := &net.Dialer{Timeout: 30 * time.Second, KeepAlive: 15 * time.Second}
	return &http.Transport{
		Proxy: http.ProxyFromEnvironment,
		DialContext: func(ctx context.Context, network, addr string) (net.Conn, error) {
			conn, err := dialer.DialContext(ctx, network, addr)
			if err != nil {
				return nil, err
			}
			return &countedConn{Conn: conn}, nil
		},
		TLSHandshakeTimeout: 15 * time.Second,
		ForceAttemptHTTP2:   true,
		// One connection for each request in flight: under net/http's default of two, all others would be dialled anew every
		// time.
		MaxIdleConnsPerHost: 1 << 16,
		// A connection holds both buffers while its request waits. Once the write buffer is full, a prompt bypasses it, so
		// half the default costs at most one system call.
		ReadBufferSize:  2 << 10,
		WriteBufferSize: 2 << 10,
		// Less than the five seconds after which uvicorn, and so vLLM, closes an idle connection, and loses a request sent
		// just then.
		IdleConnTimeout: 4 * time.Second,
		// Notice a silently dead connection with requests on it.
		HTTP2: &http.HTTP2Config{SendPingTimeout: 30 * time.Second, PingTimeout: 15 * time.Second},
	}
}

// disconnected classifies an error of the transport.
func (c *Client) disconnected(err error) *llm.Error {
	if u, ok := errors.AsType[*url.Error](err); ok {
		err = u.Err // the caller names the endpoint
	}
	if errors.Is(err, errTooLarge) {
		return c.broken(http.StatusOK, &brokenReply{why: fmt.Sprintf("%v, %d bytes", errTooLarge, c.cfg.MaxBody)})
	}
	kind, what := network(err)
	if kind == "" {
		return &llm.Error{Status: llm.Timeout, Err: fmt.Errorf("the HTTP client's own limit passed: %w", c.tidy(err))}
	}
	return &llm.Error{Status: llm.Failed, Kind: kind,
		Err: fmt.Errorf("%s: %w%s", what, c.tidy(withoutPorts(err)), c.hint(kind))}
}

// withoutPorts removes the addresses of a broken connection from err: the local port changes from run to run, and would
// make results of equal runs differ.
func withoutPorts(err error) error {
	if op, ok := errors.AsType[*net.OpError](err); ok && op.Op != "dial" && op.Op != "proxyconnect" {
		return op.Err
	}
	return err
}

// network returns the kind of failure of err, and its name. The kind is "" for a timeout.
func network(err error) (kind, what string) {
	op, isOp := errors.AsType[*net.OpError](err)
	dns, isDNS := errors.AsType[*net.DNSError](err)
	timeout, isNet := errors.AsType[net.Error](err)
	switch {
	case errors.Is(err, syscall.EMFILE), errors.Is(err, syscall.ENFILE):
		return llm.KindOther, "too many connections for this process (raise ulimit -n)"
	case errors.Is(err, syscall.EADDRNOTAVAIL):
		return llm.KindOther, "no local port is left"
	case isDNS && dns.IsNotFound:
		return llm.KindRefused, "no such host"
	case isDNS:
		return llm.KindConnection, "the host's name cannot be looked up"
	case isOp && (op.Op == "dial" || op.Op == "proxyconnect"):
		return llm.KindRefused, "nothing answers"
	case isTLS(err):
		return llm.KindRefused, "no secure connection"
	case isNet && timeout.Timeout():
		return "", ""
	}
	return llm.KindConnection, "the connection broke"
}

// isTLS reports whether err is a disagreement on TLS or on identities.
func isTLS(err error) bool {
	var record tls.RecordHeaderError
	var alert tls.AlertError
	var cert *tls.CertificateVerificationError
	return errors.As(err, &record) || errors.As(err, &alert) || errors.As(err, &cert) ||
		strings.Contains(err.Error(), "server gave HTTP response to HTTPS client")
}

var errTooLarge = errors.New("the body is longer than Config.MaxBody")

// maxRefusal is the most bytes that are read of a reply whose status is not a success. They are kept in memory.
const maxRefusal = 1 << 20

// A cutBody is the beginning of a body.
type cutBody struct {
	io.Reader
	io.Closer
}

// A boundedBody ends with errTooLarge after so many bytes, counted after decompression.
type boundedBody struct {
	io.ReadCloser
	left int64
}

func (b *boundedBody) Read(p []byte) (int, error) {
	if int64(len(p)) > b.left+1 { // one byte more than allowed, to notice excess
		p = p[:b.left+1]
	}
	n, err := b.ReadCloser.Read(p)
	if int64(n) > b.left {
		n, err = int(b.left), errTooLarge
	}
	b.left -= int64(n)
	return n, err
}

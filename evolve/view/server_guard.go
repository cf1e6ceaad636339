package view

import (
	"crypto/rand"
	"crypto/subtle"
	"encoding/hex"
	"net"
	"net/http"
	"net/url"
	"slices"
	"strings"
)

// tokenDigits is the number of hexadecimal digits of 128 bits.
const tokenDigits = 32

// newToken returns an unguessable token.
func newToken() string {
	var b [tokenDigits / 2]byte
	rand.Read(b[:]) // never fails
	return hex.EncodeToString(b[:])
}

// plain reports whether a token reads the same in a link's fragment and in a header.
func plain(token string) bool {
	return !strings.ContainsFunc(token, func(r rune) bool {
		return !(r >= '0' && r <= '9' || r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r == '-' || r == '_')
	})
}

// headers are in every answer, refusals included.
func headers(h http.Header, policy string) {
	h.Set("Content-Security-Policy", policy)
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("Referrer-Policy", "no-referrer")
	h.Set("Cross-Origin-Opener-Policy", "same-origin")
	h.Set("Cross-Origin-Resource-Policy", "same-origin")
	h.Set("Cache-Control", "no-store")
}

// noContent is the policy of answers other than the page: nothing in them may run or be loaded if a browser shows them
// as documents.
const noContent = "default-src 'none'; sandbox; frame-ancestors 'none'"

// A refusal is the reason why a request is refused.
type refusal struct {
	status int
	text   string
}

// foreign returns the refusal of a request that no page of this server makes, or nil. It needs neither the token nor
// the name of the server, so it also protects a page in a program's own server.
func foreign(r *http.Request) *refusal {
	if r.Method != http.MethodGet {
		return &refusal{http.StatusMethodNotAllowed, "only GET: nothing here can be changed"}
	}
	if origin, sent := r.Header["Origin"]; sent && !sameOrigin(origin, r.Host) {
		return &refusal{http.StatusForbidden, "a page of another origin asks"}
	}
	switch r.Header.Get("Sec-Fetch-Site") {
	case "", "same-origin", "none": // "" comes from an old browser, or from a program
		return nil
	}
	if visit(r) {
		return nil
	}
	return &refusal{http.StatusForbidden, "a page of another site asks: open the link itself"}
}

// sameOrigin reports whether a request's Origin is its Host. "null", the Origin of a sandboxed page, is not.
func sameOrigin(origin []string, host string) bool {
	if len(origin) != 1 {
		return false
	}
	u, err := url.Parse(origin[0])
	return err == nil && (u.Scheme == "http" || u.Scheme == "https") && u.Host == host
}

// visit reports whether a person follows a link to the page from elsewhere, such as a terminal in a browser. That is
// safe: the page itself contains no data of a run, and cannot be framed.
func visit(r *http.Request) bool {
	return r.URL.Path == "/" && r.Header.Get("Sec-Fetch-Mode") == "navigate" &&
		r.Header.Get("Sec-Fetch-Dest") == "document"
}

// guarded is the handler of the Server's own listener: it checks name and token first.
func (s *Server) guarded() http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch {
		case !s.named(r):
			refuse(w, refusal{http.StatusMisdirectedRequest,
				"this page has another address: open the link that was printed; through ssh -L give both sides the same port"})
		case r.Method == http.MethodGet && r.URL.Path != "/" && !s.knows(r.Header):
			w.Header().Set("WWW-Authenticate", "Bearer")
			refuse(w,
				refusal{http.StatusUnauthorized, "the token is missing or not this server's: open the link that was printed last"})
		default:
			s.ServeHTTP(w, r)
		}
	})
}

// named reports whether a request's Host names this server: the connection's local address, localhost on the loopback
// interface, or one of ServerConfig.Hosts.
func (s *Server) named(r *http.Request) bool {
	if slices.Contains(s.cfg.Hosts, r.Host) {
		return true
	}
	at, ok := r.Context().Value(http.LocalAddrContextKey).(*net.TCPAddr)
	if !ok {
		return false
	}
	_, port, err := net.SplitHostPort(at.String())
	names := []string{net.JoinHostPort(at.IP.String(), port)}
	if at.IP.IsLoopback() {
		names = append(names, "localhost:"+port, "127.0.0.1:"+port, "[::1]:"+port)
	}
	return err == nil && slices.Contains(names, r.Host)
}

// knows reports whether a request has the token in its header. A query would be written to logs, and a cookie is sent
// to every port of the machine.
func (s *Server) knows(h http.Header) bool {
	sent, found := strings.CutPrefix(h.Get("Authorization"), "Bearer ")
	return found && subtle.ConstantTimeCompare([]byte(sent), []byte(s.cfg.Token)) == 1
}

// refuse answers with a refusal.
func refuse(w http.ResponseWriter, why refusal) {
	headers(w.Header(), noContent)
	if why.status == http.StatusMethodNotAllowed {
		w.Header().Set("Allow", http.MethodGet)
	}
	http.Error(w, why.text, why.status)
}

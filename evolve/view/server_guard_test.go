package view

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

// Who may read what, a row a rule. A request is one that the page makes, but for what change changes.
func TestAccess(t *testing.T) {
	s := serving(t, ServerConfig{Hosts: []string{"lab.example:8000"}}, finished(t))
	address, token := base(t, s)
	host := strings.TrimPrefix(address, "http://")
	port := host[strings.LastIndex(host, ":"):]
	header := func(name, value string) func(*http.Request) {
		return func(r *http.Request) { r.Header.Set(name, value) }
	}
	both := func(fs ...func(*http.Request)) func(*http.Request) {
		return func(r *http.Request) {
			for _, f := range fs {
				f(r)
			}
		}
	}
	method := func(m string) func(*http.Request) { return func(r *http.Request) { r.Method = m } }
	named := func(h string) func(*http.Request) { return func(r *http.Request) { r.Host = h } }
	none := func(*http.Request) {}
	anonymous := func(r *http.Request) { r.Header.Del("Authorization") }
	for _, tt := range []struct {
		reason, path string
		change       func(*http.Request)
		want         int
	}{
		{"the page's own request", "/api/runs", none, 200},
		{"the report of now", "/report", none, 200},
		{"the page has nothing of a run in it, and the token is in the fragment, which is not sent", "/", anonymous, 200},

		{"nothing can be changed", "/api/runs", method(http.MethodPost), 405},
		{"nor written", "/api/runs", method(http.MethodPut), 405},
		{"nor deleted", "/api/runs", method(http.MethodDelete), 405},
		{"a page that asks before it posts is told no", "/api/runs", method(http.MethodOptions), 405},
		{"GET only", "/", method(http.MethodHead), 405},

		{"a name that a hostile site lets lead here", "/api/runs", named("evil.example" + port), 421},
		{"also for the page", "/", both(named("evil.example"+port), anonymous), 421},
		{"the right name with another port", "/api/runs", named("127.0.0.1:1"), 421},
		{"without a port it is another server's", "/api/runs", named("127.0.0.1"), 421},
		{"localhost is this machine, and so is an end of ssh -L with the same port", "/api/runs", named("localhost" + port),
			200},
		{"a name that the program has given", "/api/runs", named("lab.example:8000"), 200},

		{"the page's own origin", "/api/runs", header("Origin", address), 200},
		{"another origin", "/api/runs", header("Origin", "http://evil.example"), 403},
		{"another server of this machine", "/api/runs", header("Origin", "http://127.0.0.1:1"), 403},
		{"a sandboxed page", "/api/runs", header("Origin", "null"), 403},
		{"an empty origin is not the page's", "/api/runs", header("Origin", ""), 403},
		{"two origins", "/api/runs", func(r *http.Request) {
			r.Header["Origin"] = []string{address,
				"http://evil.example"}
		}, 403},

		{"what the browser says of the page's own requests", "/api/runs", header("Sec-Fetch-Site", "same-origin"), 200},
		{"the link, typed", "/", both(header("Sec-Fetch-Site", "none"), anonymous), 200},
		{"another site", "/api/runs", header("Sec-Fetch-Site", "cross-site"), 403},
		{"another port of this machine is the same site", "/api/runs", header("Sec-Fetch-Site", "same-site"), 403},
		{"another site's script or image", "/", both(header("Sec-Fetch-Site", "cross-site"), anonymous), 403},
		{"another site's frame", "/", both(header("Sec-Fetch-Site", "cross-site"), header("Sec-Fetch-Mode", "navigate"),
			header("Sec-Fetch-Dest", "iframe")), 403},
		{"a person follows the link from another page, such as a terminal in a browser", "/",
			both(anonymous, header("Sec-Fetch-Site", "cross-site"), header("Sec-Fetch-Mode", "navigate"),
				header("Sec-Fetch-Dest", "document")), 200},
		{"to the page alone", "/report", both(header("Sec-Fetch-Site", "cross-site"), header("Sec-Fetch-Mode", "navigate"),
			header("Sec-Fetch-Dest", "document")), 403},

		{"no token", "/api/runs", anonymous, 401},
		{"no token for the report", "/report", anonymous, 401},
		{"no token for the stream", "/api/events", anonymous, 401},
		{"nor does one learn what there is", "/nothing", anonymous, 401},
		{"another token", "/api/runs", header("Authorization", "Bearer "+strings.Repeat("0", tokenDigits)), 401},
		{"the beginning of the token", "/api/runs", header("Authorization", "Bearer "+token[:tokenDigits-1]), 401},
		{"more than the token", "/api/runs", header("Authorization", "Bearer "+token+"0"), 401},
		{"an empty token", "/api/runs", header("Authorization", "Bearer "), 401},
		{"another scheme", "/api/runs", header("Authorization", "Basic "+token), 401},
		{"in a query, which logs keep", "/api/runs?token=" + token, anonymous, 401},
		{"in a cookie, which is sent to every port", "/api/runs", both(anonymous, header("Cookie", "token="+token)), 401},

		{"a run that is not there", "/api/state?run=nothing", none, 404},
		{"rows below 0", "/api/state?run=nothing&children=-1", none, 400},
		{"a path that is not there", "/api", none, 404},
		{"a path that leads up", "/api/../../etc/passwd", none, 404},
	} {
		r := request(t, s, tt.path)
		tt.change(r)
		status, body, h := answer(t, r)
		if status != tt.want {
			t.Errorf("%s: %s %s is answered %d %s, want %d", tt.reason, r.Method, tt.path, status, body, tt.want)
		}
		checkHeaders(t, tt.reason, h)
	}
}

// checkHeaders checks what every answer has.
func checkHeaders(t *testing.T, what string, h http.Header) {
	t.Helper()
	for name, want := range map[string]string{
		"X-Content-Type-Options":       "nosniff",
		"Referrer-Policy":              "no-referrer",
		"Cross-Origin-Opener-Policy":   "same-origin",
		"Cross-Origin-Resource-Policy": "same-origin",
		"Cache-Control":                "no-store",
	} {
		if got := h.Get(name); got != want {
			t.Errorf("%s: %s is %q, want %q", what, name, got, want)
		}
	}
	csp := h.Get("Content-Security-Policy")
	for _, want := range []string{"default-src 'none'", "frame-ancestors 'none'"} {
		if !strings.Contains(csp, want) {
			t.Errorf("%s: the content policy is %q, want it to have %s", what, csp, want)
		}
	}
	for name := range h {
		if name == "Set-Cookie" || strings.HasPrefix(name, "Access-Control-") {
			t.Errorf("%s: the answer has %s, which lets others in", what, name)
		}
	}
}

// The link to a page at all addresses leads to the page.
func TestLinkToAllAddresses(t *testing.T) {
	for _, addr := range []string{":0", "0.0.0.0:0"} {
		s, err := NewServer(ServerConfig{})
		if err != nil {
			t.Fatal(err)
		}
		defer s.Close()
		if _, err := s.Listen(addr); err != nil {
			t.Fatal(err)
		}
		if status, body, _ := answer(t, request(t, s, "/api/runs")); status != 200 {
			t.Errorf("%s: the link %s is answered %d %s", addr, s.URL(), status, body)
		}
	}
}

// Each server has a token of its own.
func TestTokensDiffer(t *testing.T) {
	seen := map[string]bool{}
	for range 8 {
		seen[newToken()] = true
	}
	if len(seen) != 8 {
		t.Errorf("8 tokens, of which %d differ", len(seen))
	}
}

// In a program's own server the Server refuses what other sites ask for, and leaves who may read to the program.
func TestOwnServer(t *testing.T) {
	s, err := NewServer(ServerConfig{})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	if err := s.Follow(finished(t)); err != nil {
		t.Fatal(err)
	}
	mux := http.NewServeMux()
	mux.Handle("/runs/", http.StripPrefix("/runs", s))
	own := httptest.NewServer(mux)
	defer own.Close()
	for _, tt := range []struct {
		reason, method, path, name, value string
		want                              int
	}{
		{"the page under a prefix", "GET", "/runs/", "", "", 200},
		{"what it asks for", "GET", "/runs/api/runs", "Origin", own.URL, 200},
		{"nothing can be changed here either", "POST", "/runs/api/runs", "", "", 405},
		{"another origin", "GET", "/runs/api/runs", "Origin", "http://evil.example", 403},
		{"another site, without an origin", "GET", "/runs/api/runs", "Sec-Fetch-Site", "cross-site", 403},
		{"another site's visitor finds the page", "GET", "/runs/", "Sec-Fetch-Site", "none", 200},
	} {
		r, err := http.NewRequestWithContext(t.Context(), tt.method, own.URL+tt.path, nil)
		if err != nil {
			t.Fatal(err)
		}
		if tt.name != "" {
			r.Header.Set(tt.name, tt.value)
		}
		status, body, h := answer(t, r)
		if status != tt.want {
			t.Errorf("%s: %d %s, want %d", tt.reason, status, body, tt.want)
		}
		checkHeaders(t, tt.reason, h)
	}
}

func TestServerConfig(t *testing.T) {
	for _, tt := range []struct {
		reason string
		cfg    ServerConfig
		want   string // in the error; "" for none
	}{
		{"the zero value serves with a new token", ServerConfig{}, ""},
		{"a token that the program keeps", ServerConfig{Token: strings.Repeat("ab", 16)}, ""},
		{"a token that can be guessed", ServerConfig{Token: "secret"}, "ServerConfig.Token has 6 characters"},
		{"a token that breaks a header", ServerConfig{Token: strings.Repeat("a", 31) + "\n"}, "a header cannot hold"},
		{"readers below 0", ServerConfig{Readers: -1}, "ServerConfig.Readers is -1"},
	} {
		s, err := NewServer(tt.cfg)
		if err == nil {
			s.Close()
		}
		if got := err != nil; got != (tt.want != "") || got && !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: %v, want %q", tt.reason, err, tt.want)
		}
	}
}

package openai

import (
	"bytes"
	"context"
	"io"
	"net/http"
	"net/url"
	"strings"
)

// within returns a CheckRedirect that asks follow about redirects to the same origin, and refuses all others. Another
// server must not get the prompt or the key. If follow is nil, every redirect is refused.
func within(follow func(*http.Request, []*http.Request) error) func(*http.Request, []*http.Request) error {
	return func(req *http.Request, via []*http.Request) error {
		if follow == nil || origin(req.URL) != origin(via[0].URL) {
			return http.ErrUseLastResponse
		}
		return follow(req, via)
	}
}

// origin returns the scheme, host and port of u.
func origin(u *url.URL) [3]string {
	port := u.Port()
	if port == "" {
		port = map[string]string{"http": "80", "https": "443"}[u.Scheme]
	}
	return [3]string{u.Scheme, strings.ToLower(u.Hostname()), port}
}

// post sends the request and returns the reply when its headers have arrived. Reading more than max bytes of the
// reply's body is an error. If the status is not a success, the body ends after [maxRefusal] bytes: only its beginning
// is quoted.
// The request's body is a bytes.Reader, so that net/http sends headers and body in one piece.
func (c *Client) post(ctx context.Context, b *body, accept string, max int64) (*http.Response, error) {
	request, err := c.encode(b)
	if err != nil {
		return nil, err
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, c.cfg.BaseURL+"/chat/completions",
		bytes.NewReader(request))
	if err != nil {
		return nil, err
	}
	req.Header.Set("Accept", accept)
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("User-Agent", "evoalloc")
	req.Header.Set("X-Stainless-Retry-Count", "0") // as clients of OpenAI's say it: each attempt is a request of its own
	if key := c.key(); key != "" {
		req.Header.Set("Authorization", "Bearer "+key)
	}
	resp, err := c.http.Do(req)
	switch {
	case resp == nil:
	case resp.StatusCode >= 300: // with an error too, if the caller's client refuses a redirect
		resp.Body = cutBody{io.LimitReader(resp.Body, min(max, maxRefusal)), resp.Body}
	default:
		resp.Body = &boundedBody{resp.Body, max}
	}
	return resp, err
}

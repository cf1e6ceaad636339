package llmtest_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"net/http"
	"strings"
	"time"

	"github.com/evoalloc/evoalloc/llm/llmtest"
)

// ask sends one request as any client would, and returns its status and answer.
func ask(url, prompt string, seed int) (int, string) {
	body, err := json.Marshal(map[string]any{
		"model": "m", "seed": seed,
		"messages": []map[string]string{{"role": "user", "content": prompt}},
	})
	if err != nil {
		return 0, err.Error()
	}
	resp, err := http.Post(url+"/chat/completions", "application/json", bytes.NewReader(body))
	if err != nil {
		return 0, err.Error()
	}
	defer resp.Body.Close()
	var c struct {
		Choices []struct{ Message struct{ Content string } }
	}
	if json.NewDecoder(resp.Body).Decode(&c) != nil || len(c.Choices) == 0 {
		return resp.StatusCode, ""
	}
	return resp.StatusCode, c.Choices[0].Message.Content
}

func ExampleServer() {
	srv := llmtest.NewServer(llmtest.Config{Latency: llmtest.Constant(time.Millisecond)})
	defer srv.Close()
	fmt.Println(ask(srv.URL, "hello", 1))
	fmt.Println(srv.Stats().Calls, "call")
	// Output:
	// 200 ```
	// hello
	// ```
	//
	// 1 call
}

func ExampleConfig() {
	srv := llmtest.NewServer(llmtest.Config{
		Reply: func(r llmtest.Request) string { return fmt.Sprintf("seed %d of %s", r.Seed, r.Model) },
		Fault: llmtest.Must("429 retry-after:1"),
	})
	defer srv.Close()
	status, _ := ask(srv.URL, "hello", 7)
	_, text := ask(srv.URL, "hello", 7)
	fmt.Println(status, text)
	// Output: 429 seed 7 of m
}

func ExampleRequest() {
	// Everything about a request follows from what it says, but for its Ordinal.
	dice := func(r llmtest.Request) string { return fmt.Sprint(r.Rand("dice").IntN(6) + 1) }
	first := llmtest.NewServer(llmtest.Config{Reply: dice})
	defer first.Close()
	again := llmtest.NewServer(llmtest.Config{Reply: dice})
	defer again.Close()
	_, a := ask(first.URL, "throw", 40)
	_, b := ask(again.URL, "throw", 40)
	fmt.Println(a == b)
	// Output: true
}

func ExampleEcho() {
	shout := func(_ llmtest.Request, program string) string { return strings.ToUpper(program) }
	srv := llmtest.NewServer(llmtest.Config{Reply: llmtest.Echo(shout)})
	defer srv.Close()
	_, reply := ask(srv.URL, "Improve this:\n```js\nf(1)\n```\nAnswer in one block.", 1)
	fmt.Print(reply)
	// Output:
	// ```js
	// F(1)
	// ```
}

func ExampleFault() {
	srv := llmtest.NewServer(llmtest.Config{Fault: llmtest.Must("50% 503|no choices")})
	defer srv.Close()
	for seed := range 40 {
		ask(srv.URL, "hello", seed)
	}
	f := srv.Stats().Faults
	fmt.Println(f[""]+f["503"]+f["no choices"], len(f))
	// Output: 40 3
}

func ExampleLatency() {
	for _, l := range []llmtest.Latency{
		llmtest.Constant(50 * time.Millisecond),
		llmtest.LogNormal{Median: 200 * time.Millisecond, Sigma: 1, Cap: 5 * time.Second},
	} {
		fmt.Println(l)
	}
	// Output:
	// constant 50ms
	// log-normal, median 200ms, sigma 1, cap 5s
}

func ExampleConstant() {
	fmt.Println(llmtest.Constant(50 * time.Millisecond).Draw(nil))
	// Output: 50ms
}

func ExampleLogNormal() {
	l := llmtest.LogNormal{Median: 200 * time.Millisecond}
	fmt.Println(l.Draw(rand.New(rand.NewPCG(1, 2)))) // Sigma 0: always the median
	// Output: 200ms
}

func ExampleUsage() {
	u := llmtest.Usage{PromptTokens: 100, CachedTokens: 64, CompletionTokens: 20}
	fmt.Printf("%+v\n", u)
	// Output: {PromptTokens:100 CachedTokens:64 CompletionTokens:20}
}

func ExampleStats() {
	srv := llmtest.NewServer(llmtest.Config{Latency: llmtest.Constant(20 * time.Millisecond)})
	defer srv.Close()
	for seed := range 3 { // one after the other: never more than one in flight
		ask(srv.URL, "hello", seed)
	}
	s := srv.Stats()
	fmt.Println(s.Calls, s.InFlight, s.MaxInFlight, s.Latency, s.Busy > 0 && s.Busy <= 1)
	// Output: 3 0 1 60ms true
}

func ExampleStats_gone() {
	srv := llmtest.NewServer(llmtest.Config{Fault: func(llmtest.Request) llmtest.Fault { return "hang" }})
	defer srv.Close()
	impatient := http.Client{Timeout: 2 * time.Second}
	body := strings.NewReader(`{"seed": 9, "messages": [{"role": "user", "content": "hello"}]}`)
	if _, err := impatient.Post(srv.URL+"/chat/completions", "application/json", body); err != nil {
		srv.Drain(context.Background())
		for _, d := range srv.Stats().Gone {
			fmt.Println(d.Seed, d.Fault)
		}
	}
	// Output: 9 hang
}

func ExampleRequest_stream() {
	// A server that does not know vLLM's extension.
	srv := llmtest.NewServer(llmtest.Config{Fault: func(r llmtest.Request) llmtest.Fault {
		if r.StreamOptions.ContinuousUsage {
			return "400 continuous_usage_stats"
		}
		return ""
	}})
	defer srv.Close()
	body := `{"stream": true, "stream_options": {"continuous_usage_stats": true}, "messages": [{"role": "user", "content": "hello"}]}`
	resp, err := http.Post(srv.URL+"/chat/completions", "application/json", strings.NewReader(body))
	if err != nil {
		fmt.Println(err)
		return
	}
	defer resp.Body.Close()
	fmt.Println(resp.StatusCode)
	// Output: 400
}

func ExampleServer_Restart() {
	srv := llmtest.NewServer(llmtest.Config{})
	defer srv.Close()
	ask(srv.URL, "hello", 1)
	if err := srv.Restart(); err != nil {
		fmt.Println(err)
	}
	http.DefaultClient.CloseIdleConnections() // they lead to the server that was
	status, _ := ask(srv.URL, "hello", 1)
	fmt.Println(status, srv.Stats().Calls)
	// Output: 200 2
}

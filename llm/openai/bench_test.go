//go:build unix

package openai_test

import (
	"bufio"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/evoalloc/evoalloc/llm/openai"
)

// serverEnv makes a process of this test binary serve streams, of as many chunks as the path says, until its standard
// input ends.
const serverEnv = "EVOALLOC_TEST_STREAMS"

func TestMain(m *testing.M) {
	if os.Getenv(serverEnv) == "" {
		os.Exit(m.Run())
	}
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		io.Copy(io.Discard, r.Body)
		w.Header().Set("Content-Type", "text/event-stream")
		n, _ := strconv.Atoi(strings.Split(r.URL.Path, "/")[1])
		const chunk = `data: {"id":"chatcmpl-8d1f","object":"chat.completion.chunk","created":1764200000,"model":"Qwen/Qwen3-8B",` +
			`"choices":[{"index":0,"delta":{"content":%q},"logprobs":null,"finish_reason":%s}],` +
			`"usage":{"prompt_tokens":700,"total_tokens":701,"completion_tokens":%d}}` + "\n\n"
		for i := range n {
			fmt.Fprintf(w, chunk, "    x += 1\n", "null", i+1)
		}
		fmt.Fprintf(w, chunk+done, "", `"stop"`, n)
	}))
	fmt.Println(srv.URL)
	io.Copy(io.Discard, os.Stdin)
}

// BenchmarkStream reports the processor time that this process uses for a streamed call, of a server in another one.
//
//	go test -run '^$' -bench Stream ./llm/openai
func BenchmarkStream(b *testing.B) {
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), serverEnv+"=1")
	in, err1 := cmd.StdinPipe()
	out, err2 := cmd.StdoutPipe()
	if err := cmd.Start(); err1 != nil || err2 != nil || err != nil {
		b.Fatal(err1, err2, err)
	}
	b.Cleanup(func() { in.Close(); cmd.Wait() })
	url, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		b.Fatal(err)
	}
	for _, chunks := range []int{20, 1000} {
		b.Run(fmt.Sprint(chunks, " chunks"), func(b *testing.B) {
			c, err := openai.New(openai.Config{BaseURL: fmt.Sprint(strings.TrimSpace(url), "/", chunks), Model: model})
			if err != nil {
				b.Fatal(err)
			}
			b.Cleanup(c.Close)
			begin := cpu()
			for b.Loop() {
				if reply, err := c.Generate(b.Context(), request); err != nil || len(reply.Text) != 11*chunks {
					b.Fatal(len(reply.Text), err)
				}
			}
			b.ReportMetric((cpu()-begin)/float64(b.N), "cpu-ms/op")
		})
	}
}

// cpu is the processor time of this process, in milliseconds.
func cpu() float64 {
	var u syscall.Rusage
	syscall.Getrusage(syscall.RUSAGE_SELF, &u) // of this process, which is there
	return float64(u.Utime.Nano()+u.Stime.Nano()) / 1e6
}

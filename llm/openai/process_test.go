package openai_test

import (
	"bufio"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/evoalloc/evoalloc/llm/llmtest"
)

// serverEnv makes a process of this test binary serve, after the latency that it names, until its
// standard input ends.
const serverEnv = "EVOALLOC_TEST_SERVER_LATENCY"

func TestMain(m *testing.M) {
	if v, ok := os.LookupEnv(serverEnv); ok {
		latency, err := time.ParseDuration(v)
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(2)
		}
		srv := llmtest.NewServer(llmtest.Config{Latency: llmtest.Constant(latency)})
		fmt.Println(srv.URL)
		io.Copy(io.Discard, os.Stdin)
		srv.Close()
		return
	}
	flag.Parse()
	flag.Set("test.parallel", "16") // those that run in parallel mostly wait
	os.Exit(m.Run())
}

// elsewhere starts a server in another process, so that what it costs is not in this one's figures.
// It returns the server's URL and a function that asks for its counts.
func elsewhere(tb testing.TB, latency time.Duration) (url string, stats func() llmtest.Stats) {
	tb.Helper()
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), serverEnv+"="+latency.String())
	cmd.Stderr = os.Stderr
	in, err := cmd.StdinPipe()
	if err != nil {
		tb.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		tb.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() {
		in.Close()
		if err := cmd.Wait(); err != nil {
			tb.Errorf("the server's process: %v", err)
		}
	})
	line, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		tb.Fatal(err)
	}
	url = strings.TrimSpace(line)
	return url, func() (s llmtest.Stats) {
		transport := &http.Transport{DisableKeepAlives: true}
		resp, err := (&http.Client{Transport: transport}).Get(url + "/stats")
		if err != nil {
			tb.Fatal(err)
		}
		defer resp.Body.Close()
		if err := json.NewDecoder(resp.Body).Decode(&s); err != nil {
			tb.Fatal(err)
		}
		return s
	}
}

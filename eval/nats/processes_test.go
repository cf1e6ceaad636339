package nats_test

import (
	"bufio"
	"context"
	"flag"
	"fmt"
	"io"
	"log/slog"
	"os"
	"os/exec"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/evoalloc/evoalloc/eval"
	"github.com/evoalloc/evoalloc/eval/nats"
	"github.com/evoalloc/evoalloc/eval/nats/embedded"
	"github.com/evoalloc/evoalloc/internal/notrun"
)

var long = flag.Bool("long", false, "have the tests of failures last a minute each, in place of seconds")

// skipUnlessLong skips a test that takes long, unless tests run at full length or with -long. It names what runs in its
// place.
func skipUnlessLong(t *testing.T, short string) {
	t.Helper()
	if !*long {
		notrun.Long(t, short)
	}
}

// The processes of the tests are this binary again.
const (
	asWorkerOf = "EVOALLOC_TEST_WORKER_OF" // URL of the server
	logsTo     = "EVOALLOC_TEST_LOG"       // file with a line for each evaluation that ended
	serverIn   = "EVOALLOC_TEST_SERVER_IN" // folder of the streams
	manyFor    = "EVOALLOC_TEST_MANY_FOR"  // URL of the server, for a process of many workers
	manyAre    = "EVOALLOC_TEST_MANY_ARE"  // how many, and the median of what their evaluations take
)

func TestMain(m *testing.M) {
	switch {
	case os.Getenv(asWorkerOf) != "":
		os.Exit(beWorker(os.Getenv(asWorkerOf), os.Getenv(logsTo)))
	case os.Getenv(manyFor) != "":
		os.Exit(beMany(os.Getenv(manyFor), os.Getenv(manyAre), os.Getenv(logsTo)))
	case os.Getenv(serverIn) != "":
		os.Exit(beServer(os.Getenv(serverIn)))
	}
	flag.Parse()
	flag.Set("test.parallel", "12") // those that run in parallel mostly wait
	os.Exit(m.Run())
}

func beServer(dir string) int {
	s, err := embedded.Start(embedded.Config{Dir: dir})
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	fmt.Println(s.URL())
	io.Copy(io.Discard, os.Stdin) // until the test has ended, or it is killed
	return 0
}

// beWorker scores programs by their length, in 10 ms, or 200 ms for one that begins with "slow", and writes each to a
// file then. It dies of "die", and 100 ms after it began a program that begins with "die late".
func beWorker(url, path string) int {
	f, err := os.OpenFile(path, os.O_APPEND|os.O_WRONLY|os.O_CREATE, 0o600)
	if err != nil {
		return 1
	}
	ctx, cancel := context.WithCancel(context.Background())
	go func() {
		io.Copy(io.Discard, os.Stdin)
		cancel()
	}()
	for ctx.Err() == nil {
		w, err := nats.NewWorker(nats.WorkerConfig{
			Server: nats.Server{URL: url}, Task: cp, Slots: 2, Grace: -1, Logger: slog.New(slog.DiscardHandler),
			Evaluator: eval.Func(func(ctx context.Context, program string) (eval.Result, error) {
				if after, dies := strings.CutPrefix(program, "die"); dies {
					if strings.HasPrefix(after, " late") {
						time.Sleep(100 * time.Millisecond)
					}
					os.Exit(3)
				}
				takes := 10 * time.Millisecond
				if strings.HasPrefix(program, "slow") {
					takes = 200 * time.Millisecond
				}
				time.Sleep(takes)
				fmt.Fprintln(f, program)
				return length(ctx, program)
			}),
		})
		if err == nil {
			err = w.Run(ctx)
		}
		if err != nil { // the server is down, perhaps
			time.Sleep(100 * time.Millisecond)
		}
	}
	return 0
}

// A process is this binary as a server or as workers.
type process struct {
	pid  int
	line string // the first that it prints
	kill func()
}

// child starts this binary with more in its environment, and waits for its first line. It ends with the test.
func child(t testing.TB, env ...string) process {
	t.Helper()
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), env...)
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	kill := sync.OnceFunc(func() {
		cmd.Process.Kill()
		in.Close()
		cmd.Wait()
	})
	t.Cleanup(kill)
	line, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		t.Fatalf("a process with %v did not start: %v", env, err)
	}
	return process{cmd.Process.Pid, strings.TrimSpace(line), kill}
}

// serverProcess starts a server with its streams in dir. Its line is the URL.
func serverProcess(t testing.TB, dir string) process {
	t.Helper()
	return child(t, serverIn+"="+dir)
}

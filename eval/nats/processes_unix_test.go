//go:build unix

package nats_test

import (
	"context"
	"flag"
	"fmt"
	"io"
	"log/slog"
	"math/rand/v2"
	"net"
	"net/url"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/nats-io/nats-server/v2/server"

	"github.com/evoalloc/evoalloc/eval"
	"github.com/evoalloc/evoalloc/eval/nats"
	"github.com/evoalloc/evoalloc/eval/nats/embedded"
	"github.com/evoalloc/evoalloc/internal/notrun"
)

// The processes of the tests are this binary again, which plays a part.
const (
	partIs   = "EVOALLOC_TEST_PART"   // server, worker or run
	folderIs = "EVOALLOC_TEST_FOLDER" // of the streams, and of what the parts write
	urlIs    = "EVOALLOC_TEST_URL"    // of the server
)

func TestMain(m *testing.M) {
	part := map[string]func(ctx context.Context, dir, url string) error{"server": beServer, "worker": beWorker, "run": beRun}
	if play := part[os.Getenv(partIs)]; play != nil {
		ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGINT)
		go func() {
			io.Copy(io.Discard, os.Stdin) // until the test has ended
			stop()
		}()
		if err := play(ctx, os.Getenv(folderIs), os.Getenv(urlIs)); err != nil {
			os.Exit(1)
		}
		os.Exit(0)
	}
	flag.Parse()
	flag.Set("test.parallel", "12") // those that run in parallel mostly wait
	os.Exit(m.Run())
}

func beServer(ctx context.Context, dir, at string) error {
	u, err := url.Parse(at)
	if err != nil {
		return err
	}
	port, err := strconv.Atoi(u.Port())
	if err != nil {
		return err
	}
	s, err := embedded.Start(embedded.Config{Dir: dir, Port: port,
		Configure: func(o *server.Options) { o.Authorization = u.User.Username() }})
	if err != nil {
		return err
	}
	<-ctx.Done()
	return s.Close()
}

// beWorker scores programs by their length, and writes a byte for each. It dies of a program that begins with "die",
// after the time of an evaluation.
func beWorker(ctx context.Context, dir, url string) error {
	f, err := os.OpenFile(filepath.Join(dir, "evaluated"), os.O_APPEND|os.O_WRONLY|os.O_CREATE, 0o600)
	if err != nil {
		return err
	}
	w, err := nats.NewWorker(nats.WorkerConfig{
		Server: nats.Server{URL: url}, Task: cp, Slots: 2, Grace: time.Second, Logger: slog.New(slog.DiscardHandler),
		Evaluator: eval.Func(func(ctx context.Context, program string) (eval.Result, error) {
			time.Sleep(20 * time.Millisecond)
			if strings.HasPrefix(program, "die") {
				os.Exit(3)
			}
			f.Write([]byte("."))
			return length(ctx, program)
		}),
	})
	if err != nil {
		return err
	}
	return w.Run(ctx)
}

// quick is for runs whose workers die.
func quick(url string) nats.Config {
	return nats.Config{Server: nats.Server{URL: url}, Task: cp, Lost: time.Second, Unserved: 5 * time.Minute, MaxDeliver: 20,
		Logger: slog.New(slog.DiscardHandler)}
}

// beRun evaluates new programs, eight at once, until there are as many as the file "enough" says. Then it writes how many,
// and their total.
func beRun(ctx context.Context, dir, url string) error {
	e, err := nats.New(ctx, quick(url))
	if err != nil {
		return err
	}
	var n, total, failed atomic.Int64
	var all sync.WaitGroup
	for range 8 {
		all.Go(func() {
			for failed.Load() == 0 {
				enough, err := os.ReadFile(filepath.Join(dir, "enough"))
				if most, _ := strconv.ParseInt(string(enough), 10, 64); err == nil && n.Load() >= most {
					return
				}
				r, err := e.Evaluate(ctx, programOf(n.Add(1)))
				if err != nil || !r.Valid {
					failed.Add(1)
				}
				total.Add(int64(r.Score))
			}
		})
	}
	all.Wait()
	if err := e.Close(); err != nil || failed.Load() > 0 {
		return fmt.Errorf("%d failed, %w", failed.Load(), err)
	}
	return os.WriteFile(filepath.Join(dir, "total"), fmt.Append(nil, n.Load(), " ", total.Load()), 0o600)
}

func programOf(n int64) string { return fmt.Sprint("program ", n, strings.Repeat("x", int(n%7))) }

// A process plays a part, and is started again whenever it ends, as a service manager does, until done says so.
type process struct {
	mu  sync.Mutex
	cmd *exec.Cmd
}

func keep(t *testing.T, part, dir, url string, done func() bool) *process {
	t.Helper()
	p := &process{}
	var all sync.WaitGroup
	all.Go(func() {
		for t.Context().Err() == nil && !done() {
			cmd := exec.CommandContext(t.Context(), os.Args[0])
			cmd.Env = append(os.Environ(), partIs+"="+part, folderIs+"="+dir, urlIs+"="+url)
			cmd.StdinPipe() // which ends with this process
			p.mu.Lock()
			err := cmd.Start()
			p.cmd = cmd
			p.mu.Unlock()
			if err != nil && t.Context().Err() == nil {
				t.Error(err)
				return
			}
			cmd.Wait()
			time.Sleep(20 * time.Millisecond)
		}
	})
	t.Cleanup(all.Wait)
	until(t, part+" is started", func() bool { return p.signal(0) })
	return p
}

// signal reports whether there was a process to send it to.
func (p *process) signal(s syscall.Signal) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.cmd != nil && p.cmd.Process != nil && p.cmd.Process.Signal(s) == nil
}

// fleet starts a server at a free port, and n workers, which write into a folder.
func fleet(t *testing.T, n int) (dir, url string, all []*process) {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	l.Close()
	dir, url = t.TempDir(), "nats://secret@"+l.Addr().String()
	for i := range n + 1 {
		part := []string{"server", "worker"}[min(i, 1)]
		all = append(all, keep(t, part, dir, url, func() bool { return false }))
	}
	until(t, "the server listens", func() bool {
		c, err := net.Dial("tcp", l.Addr().String())
		return err == nil && c.Close() == nil
	})
	return dir, url, all
}

func exists(dir, name string) bool {
	info, err := os.Stat(filepath.Join(dir, name))
	return err == nil && info.Size() > 0
}

// Whoever is killed or told to end, workers, the server or the run: when they go on, the run comes to the total of one
// that scores its programs itself.
func TestSignals(t *testing.T) {
	t.Parallel()
	dir, url, all := fleet(t, 3)
	all = append(all, keep(t, "run", dir, url, func() bool { return exists(dir, "total") }))
	evaluated := func() int64 {
		info, err := os.Stat(filepath.Join(dir, "evaluated"))
		if err != nil {
			return 0
		}
		return info.Size()
	}
	r := rand.New(rand.NewPCG(1, 2))
	signals := notrun.Length(len(all), 100)
	for i := range signals {
		before := evaluated()
		until(t, "programs are evaluated", func() bool { return evaluated() > before+10 })
		all[i%len(all)].signal([]syscall.Signal{syscall.SIGKILL, syscall.SIGINT}[r.IntN(2)])
	}
	if err := os.WriteFile(filepath.Join(dir, "enough"), fmt.Append(nil, evaluated()), 0o600); err != nil {
		t.Fatal(err)
	}
	until(t, "the run has ended", func() bool { return exists(dir, "total") })
	text, err := os.ReadFile(filepath.Join(dir, "total"))
	if err != nil {
		t.Fatal(err)
	}
	var n, got, want int64
	if _, err := fmt.Sscan(string(text), &n, &got); err != nil {
		t.Fatal(err)
	}
	for i := range n {
		here, _ := length(t.Context(), programOf(i+1))
		want += int64(here.Score)
	}
	if n < 20 || got != want {
		t.Errorf("the total of %d programs is %d, want %d", n, got, want)
	}
	t.Logf("%d signals, %d programs, %d evaluations", signals, n, evaluated())
}

// A program that ends its workers is invalid in the end. Of those that are evaluated beside such programs nearly all
// have their scores.
func TestProgramsBesideSomeThatEndWorkers(t *testing.T) {
	t.Parallel()
	killers, innocents := notrun.Length(1, 7), notrun.Length(12, 160)
	_, url, _ := fleet(t, 2)
	cfg := quick(url)
	cfg.MaxDeliver = notrun.Length(2, 0)
	e := run(t, cfg)
	var condemned atomic.Int64
	var all sync.WaitGroup
	for i := range killers {
		all.Go(func() {
			r, err := e.Evaluate(t.Context(), fmt.Sprint("die ", i))
			if err != nil || r.Valid || !strings.Contains(r.Reason, "workers in a row") {
				t.Errorf("one that ends workers: %+v, %v", r, err)
			}
		})
	}
	for i := range innocents {
		all.Go(func() {
			if r, err := e.Evaluate(t.Context(), fmt.Sprint("innocent ", i)); err != nil {
				t.Error(err)
			} else if !r.Valid {
				condemned.Add(1)
			}
		})
	}
	all.Wait()
	if condemned.Load() > 1 {
		t.Error("too many are invalid")
	}
	t.Logf("%d of %d innocent programs are invalid beside %d that end their workers", condemned.Load(), innocents, killers)
}

package nats_test

import (
	"bufio"
	"context"
	"fmt"
	"hash/fnv"
	"io"
	"log/slog"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/evoalloc/evoalloc/eval"
	"github.com/evoalloc/evoalloc/eval/nats"
)

// A crew is many workers of one slot each in one process. Their evaluations take times that are log-normal with σ = 1,
// so their mean is exp(1/2) = 1.65 medians; with a median of 0 they take none.
type crew struct {
	workers int
	median  time.Duration
}

func (c crew) String() string { return fmt.Sprint(c.workers, " ", c.median) }

// took is how long the evaluation of a program takes.
func (c crew) took(program string) time.Duration {
	h := fnv.New64a()
	io.WriteString(h, program)
	r := rand.New(rand.NewPCG(h.Sum64(), 1))
	return time.Duration(float64(c.median) * math.Exp(r.NormFloat64()))
}

// beMany is a process of workers. It writes of each evaluation when it began and when it ended.
func beMany(url, are, path string) int {
	var c crew
	var median string
	fmt.Sscan(are, &c.workers, &median)
	c.median, _ = time.ParseDuration(median)
	f, err := os.Create(path)
	if err != nil {
		return 1
	}
	log := &intervals{w: bufio.NewWriter(f)}
	ctx, cancel := context.WithCancel(context.Background())
	go func() {
		io.Copy(io.Discard, os.Stdin)
		cancel()
	}()
	var all sync.WaitGroup
	for i := range c.workers {
		w, err := nats.NewWorker(nats.WorkerConfig{
			Server: nats.Server{URL: url}, Task: cp, Name: fmt.Sprint("worker ", i), Grace: -1,
			Logger: slog.New(slog.DiscardHandler),
			Evaluator: eval.Func(func(ctx context.Context, program string) (eval.Result, error) {
				return c.evaluate(ctx, program, log)
			}),
		})
		if err != nil {
			return 1
		}
		all.Go(func() { w.Run(ctx) })
	}
	fmt.Println("started")
	all.Wait()
	return 0
}

func (c crew) evaluate(ctx context.Context, program string, log *intervals) (eval.Result, error) {
	if c.median > 0 {
		defer log.begin()()
		select {
		case <-time.After(c.took(program)):
		case <-ctx.Done():
			return eval.Result{}, ctx.Err()
		}
	}
	return eval.Result{Score: 1, Valid: true}, nil
}

// intervals is a file with a line when an evaluation begins, and one when it ends.
type intervals struct {
	mu sync.Mutex
	w  *bufio.Writer
	n  int
}

func (l *intervals) begin() (end func()) {
	l.mu.Lock()
	l.n++
	n := l.n
	l.mu.Unlock()
	l.add(n)
	return func() { l.add(n) }
}

func (l *intervals) add(n int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	fmt.Fprintln(l.w, n, time.Now().UnixNano())
	l.w.Flush()
}

// busy returns how much time of all evaluations of a file is between two times, and how many ended there.
func busy(t *testing.T, path string, from, to time.Time) (sum time.Duration, ended int) {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	within := func(n int64) time.Duration { return time.Duration(min(max(n, from.UnixNano()), to.UnixNano())) }
	under := map[int]int64{} // evaluations under way, and when they began
	for line := range strings.Lines(string(text)) {
		var n int
		var at int64
		if !strings.HasSuffix(line, "\n") {
			break // it is being written
		}
		if _, err := fmt.Sscan(line, &n, &at); err != nil {
			t.Fatal(err)
		}
		began, ends := under[n]
		if !ends {
			under[n] = at
			continue
		}
		delete(under, n)
		sum += within(at) - within(began)
		if at >= from.UnixNano() && at < to.UnixNano() {
			ended++
		}
	}
	for _, began := range under {
		sum += within(to.UnixNano()) - within(began)
	}
	return sum, ended
}

// A run that keeps more jobs queued than there are slots keeps the slots busy, whatever its evaluations take: 1,000
// workers at a median of 60 s, for ten minutes.
func TestManyWorkersAreBusy(t *testing.T) {
	if !*long {
		t.Skip("it measures: run with -long, on a machine that does nothing else")
	}
	if runtime.GOOS != "linux" {
		t.Skip("what the server uses is read as Linux tells it")
	}
	c, warm, window, least := crew{1000, time.Minute}, 5*time.Minute, 10*time.Minute, 0.98
	s, path := serverProcess(t, t.TempDir()), filepath.Join(t.TempDir(), "log")
	child(t, manyFor+"="+s.line, manyAre+"="+c.String(), logsTo+"="+path)
	inFlight := c.workers + c.workers/8
	e := run(t, nats.Config{Server: nats.Server{URL: s.line}, InFlight: inFlight})
	ctx, cancel := contextWithCancel(t)
	var programs atomic.Int64
	var all sync.WaitGroup
	for range inFlight {
		all.Go(func() {
			for ctx.Err() == nil {
				if _, err := e.Evaluate(ctx, fmt.Sprint("program ", programs.Add(1))); err != nil && ctx.Err() == nil {
					t.Error(err)
					return
				}
			}
		})
	}
	until(t, "all workers are there", func() bool { return e.Stats().Workers == c.workers })
	time.Sleep(warm)
	from, used := time.Now(), usedBy(t, s.pid)
	time.Sleep(window)
	to, usedThen, stats := time.Now(), usedBy(t, s.pid), e.Stats()
	sum, ended := busy(t, path, from, to)
	cancel()
	all.Wait()
	slots := to.Sub(from).Seconds() * float64(c.workers)
	share := sum.Seconds() / slots
	t.Logf("%d workers, evaluations of %v at the median: slots were busy %.2f %% of %v, with %d jobs in flight; %.1f jobs a second, %d given to a second worker",
		c.workers, c.median, 100*share, window, inFlight, float64(ended)/window.Seconds(), stats.Redelivered)
	t.Logf("the server used %.1f %% of a processor and has %d MiB", 100*(usedThen-used).Seconds()/window.Seconds(),
		residentOf(t, s.pid))
	if share < least {
		t.Errorf("slots were busy for %.3f of the time: want %v", share, least)
	}
}

// usedBy returns the processor time of a process.
func usedBy(t *testing.T, pid int) time.Duration {
	t.Helper()
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		t.Fatal(err)
	}
	_, rest, _ := strings.Cut(string(text), ") ") // its name may have blanks
	fields := strings.Fields(rest)
	var user, system int64
	if _, err := fmt.Sscan(fields[11]+" "+fields[12], &user, &system); err != nil {
		t.Fatal(err)
	}
	return time.Duration(user+system) * time.Second / 100 // ticks, of which Linux tells a hundred a second
}

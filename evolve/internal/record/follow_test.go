package record_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/evoalloc/evoalloc/evolve"
	"github.com/evoalloc/evoalloc/evolve/internal/record"
	"github.com/evoalloc/evoalloc/evolve/journal"
	"github.com/evoalloc/evoalloc/llm"
)

// followedPath is the environment's name for the journal of a run that a test starts as a process of its own.
const followedPath = "JOURNAL_FOLLOWED"

// followedAnswers is the environment's name for how many calls the model answers in that process. It waits with the
// next until it is killed: the test may be slower than the run.
const followedAnswers = "JOURNAL_FOLLOWED_ANSWERS"

// followedCalls is how many calls that run makes.
const followedCalls = 120

// followedRun makes the run, or goes on with it. It ends by itself after two minutes, should the test be gone.
func followedRun(path string) error {
	answers, err := strconv.Atoi(os.Getenv(followedAnswers))
	if err != nil {
		return err
	}
	j, err := record.Open(path, record.Config{Resume: true})
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Minute)
	defer cancel()
	slow := llm.Func(func(ctx context.Context, req llm.Request) (llm.Reply, error) {
		if answers--; answers < 0 { // one call at a time
			<-ctx.Done()
			return llm.Reply{}, ctx.Err()
		}
		time.Sleep(3 * time.Millisecond) // so that the kill comes anywhere
		return adder(ctx, req)
	})
	_, err = evolve.Run(ctx, evolve.Config{Arms: search(sum(), slow), Budget: evolve.Budget{Calls: followedCalls},
		Journal: (*journal.Journal)(j)})
	return errors.Join(err, j.Close())
}

// A following collects what Follow gives.
type following struct {
	t       testing.TB
	records chan record.Record
	err     error // when records is closed
	all     []record.Record
}

// follow follows the journal at path until the test ends.
func follow(t testing.TB, path string) *following {
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	f := &following{t: t, records: make(chan record.Record)}
	go func() {
		defer close(f.records)
		for r, err := range record.Follow(ctx, path) {
			if err != nil {
				f.err = err
				return
			}
			select {
			case f.records <- r:
			case <-ctx.Done():
				return
			}
		}
	}()
	t.Cleanup(func() {
		cancel()
		for range f.records { // whoever starts a goroutine waits for it
		}
	})
	return f
}

// until reads until a record of this kind has come n times, and keeps those that are in the file.
func (f *following) until(kind record.Kind, n int) {
	f.t.Helper()
	for n > 0 {
		r, ok := <-f.records
		if !ok {
			f.t.Fatalf("following ended with %v before %d more records of kind %q", f.err, n, kind)
		}
		if r.Kind == kind {
			n--
		}
		if r.Kind != record.CaughtUp {
			f.all = append(f.all, r)
		}
	}
}

// same fails the test unless what was followed is what Read gives.
func (f *following) same(path string) {
	f.t.Helper()
	want := readAll(f.t, path)
	if len(f.all) != len(want) {
		f.t.Fatalf("followed %d records, the file has %d", len(f.all), len(want))
	}
	for i := range want {
		if !reflect.DeepEqual(f.all[i], want[i]) {
			f.t.Fatalf("record %d: followed %+v, the file has %+v", i, f.all[i], want[i])
		}
	}
}

func readAll(t testing.TB, path string) (all []record.Record) {
	t.Helper()
	for r, err := range record.Read(path) {
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, r)
	}
	return all
}

// start starts the run at path as a process of its own, which gets this many answers.
func start(t *testing.T, path string, answers int) *exec.Cmd {
	t.Helper()
	cmd := exec.Command(os.Args[0], "-test.run=^$")
	cmd.Env = append(os.Environ(), followedPath+"="+path, followedAnswers+"="+strconv.Itoa(answers))
	cmd.Stderr = os.Stderr
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { cmd.Process.Kill() })
	return cmd
}

// A run of another process is followed from before its file exists, over two kills that leave torn lines, to its end.
func TestFollowKilledRun(t *testing.T) {
	path := filepath.Join(t.TempDir(), "run.journal")
	f := follow(t, path)
	f.until(record.CaughtUp, 1) // before there is a file
	for kill := range 2 {
		run := start(t, path, 40)
		f.until(record.Completion, 8+kill)
		used(t, path, true)
		if err := run.Process.Kill(); err != nil {
			t.Fatal(err)
		}
		run.Wait() // it was killed: the error says only that
		used(t, path, false)
		tear(t, path)
		f.until(record.CaughtUp, 1)
	}
	if err := start(t, path, followedCalls).Wait(); err != nil {
		t.Fatal(err)
	}
	f.until(record.Stop, 1)
	f.same(path)
	incarnations := 0
	for _, r := range f.all {
		if r.Kind == record.Incarnation {
			incarnations++
		}
	}
	if incarnations != 3 {
		t.Errorf("followed %d incarnations, want 3", incarnations)
	}
}

// used fails the test unless InUse reports want.
func used(t *testing.T, path string, want bool) {
	t.Helper()
	if used, err := journal.InUse(path); err != nil || used != want {
		t.Errorf("InUse reports %v, %v, want %v", used, err, want)
	}
}

// tear leaves at the end of the file what a kill in the middle of a line leaves.
func tear(t *testing.T, path string) {
	t.Helper()
	appendTo(t, path, `{"i":7,"kind":"completion","key":"`+strings.Repeat("0", rand.IntN(300)))
}

func appendTo(t *testing.T, path, text string) {
	t.Helper()
	f, err := os.OpenFile(path, os.O_APPEND|os.O_WRONLY|os.O_CREATE, 0o600)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := f.WriteString(text); err != nil {
		t.Fatal(err)
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
}

// programs makes a journal of this many programs and returns its content.
func programs(t testing.TB, path string, n int) []byte {
	t.Helper()
	j, err := record.Open(path, record.Config{})
	if err != nil {
		t.Fatal(err)
	}
	for i := range n {
		if _, err := j.WriteProgram(fmt.Sprint(i, strings.Repeat("é\n\"", i))); err != nil {
			t.Fatal(err)
		}
	}
	if err := j.Close(); err != nil {
		t.Fatal(err)
	}
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return data
}

// However a file grows, a few bytes at a time and with torn lines that are cut off and written over, Follow gives what
// Read gives of the whole.
func TestFollowInPieces(t *testing.T) {
	dir := t.TempDir()
	data := programs(t, filepath.Join(dir, "whole.journal"), 60)
	for seed := range uint64(4) {
		r := rand.New(rand.NewPCG(seed, 0))
		path := filepath.Join(dir, fmt.Sprint(seed, ".journal"))
		file, err := os.Create(path)
		if err != nil {
			t.Fatal(err)
		}
		defer file.Close()
		f := follow(t, path)
		for at := 0; at < len(data); {
			if next := at + 1 + r.IntN(len(data)/20); r.IntN(4) > 0 || at == 0 || next > len(data) {
				at = grow(t, file, data, at, min(next, len(data)))
			} else {
				at = cutBack(t, file, data, at)
			}
			if r.IntN(2) == 0 {
				time.Sleep(time.Duration(r.IntN(60)) * time.Millisecond) // so that some states are seen and some are not
			}
		}
		f.until(record.Program, 60)
		f.same(path)
	}
}

// grow writes data[from:to], and returns to.
func grow(t *testing.T, file *os.File, data []byte, from, to int) int {
	t.Helper()
	if _, err := file.WriteAt(data[from:to], int64(from)); err != nil {
		t.Fatal(err)
	}
	return to
}

// cutBack leaves a wrong line behind data[:at] for a while, then cuts the file after its last whole line, and returns
// where that is.
func cutBack(t *testing.T, file *os.File, data []byte, at int) int {
	t.Helper()
	if _, err := file.WriteAt([]byte("\x00\x00torn"), int64(at)); err != nil {
		t.Fatal(err)
	}
	at = strings.LastIndex(string(data[:at]), "\n") + 1
	if err := file.Truncate(int64(at)); err != nil {
		t.Fatal(err)
	}
	return at
}

func TestFollowEnds(t *testing.T) {
	for _, c := range []struct {
		reason, want string
		read         int // programs that are read first
		harm         func(t *testing.T, path string)
	}{
		{"a file that has another name is not the run at this path", "moved", 5, func(t *testing.T, path string) {
			rename(t, path, path+".1")
		}},
		{"another run has the name", "another file has its name", 5, func(t *testing.T, path string) {
			rename(t, path, path+".1")
			programs(t, path, 3)
		}},
		{"what was read is gone", "cut to 100 bytes", 5, func(t *testing.T, path string) {
			if err := os.Truncate(path, 100); err != nil {
				t.Fatal(err)
			}
		}},
		{"sound lines follow a damaged one, which no run writes", "is damaged", 5, func(t *testing.T, path string) {
			data := programs(t, path+".other", 9)
			lines := strings.SplitAfter(string(data), "\n")
			appendTo(t, path, "damaged\n"+lines[8])
		}},
		{"lines are missing", "missing", 5, func(t *testing.T, path string) {
			data := programs(t, path+".other", 9)
			lines := strings.SplitAfter(string(data), "\n")
			appendTo(t, path, lines[9])
		}},
	} {
		t.Run(c.want, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "run.journal")
			programs(t, path, c.read)
			f := follow(t, path)
			f.until(record.Program, c.read)
			f.until(record.CaughtUp, 1)
			c.harm(t, path)
			for r := range f.records {
				if r.Kind != record.CaughtUp {
					t.Errorf("followed %+v, although %s", r, c.reason)
				}
			}
			if f.err == nil || !strings.Contains(f.err.Error(), c.want) || !strings.Contains(f.err.Error(), path) {
				t.Errorf("error %v, want one with %q: %s", f.err, c.want, c.reason)
			}
		})
	}
}

func rename(t *testing.T, from, to string) {
	t.Helper()
	if err := os.Rename(from, to); err != nil {
		t.Fatal(err)
	}
}

// A file that is not a journal would be waited for for ever.
func TestFollowOtherFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "notes.txt")
	appendTo(t, path, "dear diary\n")
	f := follow(t, path)
	for r := range f.records {
		if r.Kind != record.CaughtUp {
			t.Errorf("followed %+v", r)
		}
	}
	if f.err == nil || !strings.Contains(f.err.Error(), "it is not a log") {
		t.Errorf("error %v, want one that it is not a log", f.err)
	}
}

// What was written before the file got another name is read.
func TestFollowReadsTheRest(t *testing.T) {
	path := filepath.Join(t.TempDir(), "run.journal")
	data := programs(t, path+".whole", 9)
	cut := strings.LastIndex(string(data[:len(data)/2]), "\n") + 1
	appendTo(t, path, string(data[:cut]))
	f := follow(t, path)
	f.until(record.CaughtUp, 1)
	appendTo(t, path, string(data[cut:]))
	rename(t, path, path+".1")
	f.until(record.Program, 9-(len(f.all)-2)) // without the header and the incarnation
	f.same(path + ".1")
}

// Those who ask whether a journal is in use do not keep a run from opening it.
func TestInUseDisturbsNobody(t *testing.T) {
	path := filepath.Join(t.TempDir(), "run.journal")
	used(t, path, false)
	programs(t, path, 1)
	ctx, cancel := context.WithCancel(t.Context())
	asked := make(chan error)
	for range 4 {
		go func() {
			var failed error
			for ctx.Err() == nil && failed == nil {
				_, failed = journal.InUse(path)
			}
			asked <- failed
		}()
	}
	for range 50 {
		j, err := record.Open(path, record.Config{Resume: true})
		if err != nil {
			t.Fatal(err)
		}
		used(t, path, true)
		if err := j.Close(); err != nil {
			t.Fatal(err)
		}
		used(t, path, false)
	}
	cancel()
	for range 4 {
		if err := <-asked; err != nil {
			t.Error(err)
		}
	}
}

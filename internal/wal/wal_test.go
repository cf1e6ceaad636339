package wal

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"

	"github.com/evoalloc/evoalloc/internal/notrun"
)

type object struct {
	Text string `json:"text"`
	N    int    `json:"n"`
}

// write makes a log of n objects and returns its path and content.
func write(t testing.TB, n int) (string, []byte) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "log.jsonl")
	l, err := Create(path)
	if err != nil {
		t.Fatal(err)
	}
	for i := range n {
		if _, err := l.Append(object{strings.Repeat("é\n\"", i), i}); err != nil {
			t.Fatal(err)
		}
	}
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return path, data
}

// read opens the log and returns its objects.
func read(path string) (objects []object, cut int64, err error) {
	l, cut, err := Open(path, func(e Entry) error {
		var o object
		if err := json.Unmarshal(e.Object, &o); err != nil {
			return err
		}
		objects = append(objects, o)
		return nil
	})
	if err == nil {
		err = l.Close()
	}
	return objects, cut, err
}

func TestRoundTrip(t *testing.T) {
	path, data := write(t, 100)
	objects, cut, err := read(path)
	if err != nil || cut != 0 || len(objects) != 100 {
		t.Fatalf("%d objects, %d bytes cut, %v", len(objects), cut, err)
	}
	for i, o := range objects {
		if o.N != i || o.Text != strings.Repeat("é\n\"", i) {
			t.Errorf("object %d is %+v", i, o)
		}
	}
	for line := range bytes.Lines(data) {
		var any map[string]any
		if err := json.Unmarshal(line, &any); err != nil || any["crc"] == nil {
			t.Fatalf("not JSON as it stands: %v: %s", err, line)
		}
	}
}

func TestGoesOnAfterOpening(t *testing.T) {
	path, _ := write(t, 3)
	l, _, err := Open(path, func(Entry) error { return nil })
	if err != nil {
		t.Fatal(err)
	}
	p, err := l.Append(object{"more", 3})
	if err != nil {
		t.Fatal(err)
	}
	if got, err := l.Read(p); err != nil || string(got) != `{"i":3,"text":"more","n":3}` {
		t.Errorf("read back %s, %v", got, err)
	}
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	if objects, _, err := read(path); err != nil || len(objects) != 4 {
		t.Errorf("%d objects, %v", len(objects), err)
	}
}

// Cut anywhere, a log gives back the lines that were whole, and can be gone on with.
func TestTornTail(t *testing.T) {
	path, data := write(t, 6)
	for n := range data {
		near := data[max(0, n-2):min(n+2, len(data))]
		if !notrun.Soak && n%7 > 0 && !bytes.ContainsRune(near, '\n') {
			continue // the normal run has each cut beside the end of a line, and some within
		}
		if err := os.WriteFile(path, data[:n], 0o644); err != nil {
			t.Fatal(err)
		}
		objects, cut, err := read(path)
		whole := bytes.Count(data[:n], []byte("\n"))
		last := bytes.LastIndexByte(data[:n], '\n') + 1
		if err != nil || len(objects) != whole || cut != int64(n-last) {
			t.Fatalf("cut at %d: %d objects of %d, %d bytes cut of %d, %v", n, len(objects), whole, cut, n-last, err)
		}
		if now, _ := os.ReadFile(path); !bytes.Equal(now, data[:last]) {
			t.Fatalf("cut at %d: the file is not the sound part", n)
		}
	}
}

// A file that is no log is left as it is, though no line of it is sound.
func TestOpenCutsNoOtherFile(t *testing.T) {
	_, data := write(t, 3)
	for _, tt := range []struct {
		reason, content string
		cut             bool
	}{
		{"another kind of JSON", "{\n  \"task\": \"cp\"\n}\n", false},
		{"text without a line feed", "my notes", false},
		{"a log whose line feeds an editor changed", strings.ReplaceAll(string(data), "\n", "\r\n"), false},
		{"JSON that begins alike", "{\"i\":0,\"x\":1}\n", false},
		{"the beginning of a first line", string(data[:20]), true},
		{"less than what every first line begins with", string(data[:3]), true},
		{"zeros, which may have been a log", strings.Repeat("\x00", 4096), false},
		{"a first line that ends in zeros", string(data[:20]) + strings.Repeat("\x00", 40), true},
		{"nothing", "", true},
	} {
		path := filepath.Join(t.TempDir(), "file")
		if err := os.WriteFile(path, []byte(tt.content), 0o644); err != nil {
			t.Fatal(err)
		}
		_, _, err := read(path)
		now, _ := os.ReadFile(path)
		if tt.cut && (err != nil || len(now) > 0) || !tt.cut && (!errors.Is(err, ErrNotLog) || string(now) != tt.content) {
			t.Errorf("%s: %v, %q is left", tt.reason, err, now)
		}
	}
}

func TestDamageIsReported(t *testing.T) {
	path, data := write(t, 6)
	lines := bytes.SplitAfter(data, []byte("\n"))[:6]
	flipped := bytes.Clone(data)
	flipped[len(lines[0])+10] ^= 1
	for _, tt := range []struct {
		reason string
		data   []byte
		line   int
	}{
		{"a flipped bit", flipped, 2},
		{"a line that is missing", bytes.Join([][]byte{lines[0], lines[2], lines[3]}, nil), 2},
		{"a line that stands twice", bytes.Join([][]byte{lines[0], lines[1], lines[1], lines[2]}, nil), 3},
		{"two lines swapped", bytes.Join([][]byte{lines[0], lines[2], lines[1]}, nil), 2},
		{"something before the first line", append([]byte("x\n"), data...), 1},
		{"a page of zeros", bytes.Join([][]byte{lines[0], make([]byte, 4096), []byte("\n"), lines[1]}, nil), 2},
	} {
		if err := os.WriteFile(path, tt.data, 0o644); err != nil {
			t.Fatal(err)
		}
		_, _, err := read(path)
		var damage *DamageError
		if !errors.As(err, &damage) || damage.Line != tt.line {
			t.Errorf("%s: %v, want damage in line %d", tt.reason, err, tt.line)
		}
		if now, _ := os.ReadFile(path); !bytes.Equal(now, tt.data) {
			t.Errorf("%s: the file was changed", tt.reason)
		}
	}
}

func TestLongLines(t *testing.T) {
	path := filepath.Join(t.TempDir(), "log")
	l, err := Create(path)
	if err != nil {
		t.Fatal(err)
	}
	text := strings.Repeat("x", 3<<20)
	for i := range 3 {
		if _, err := l.Append(object{text, i}); err != nil {
			t.Fatal(err)
		}
	}
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	if objects, _, err := read(path); err != nil || len(objects) != 3 || objects[2].Text != text {
		t.Errorf("%d objects, %v", len(objects), err)
	}
}

func TestLock(t *testing.T) {
	path, _ := write(t, 1)
	if os.Getenv("WAL_TEST_PATH") != "" {
		path = os.Getenv("WAL_TEST_PATH")
	}
	l, _, err := Open(path, func(Entry) error { return nil })
	if os.Getenv("WAL_TEST_PATH") != "" {
		if !errors.Is(err, ErrLocked) {
			t.Fatalf("opened what another process has open: %v", err)
		}
		fmt.Println("was locked")
		return
	}
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	cmd := exec.Command(os.Args[0], "-test.run=^TestLock$")
	cmd.Env = append(os.Environ(), "WAL_TEST_PATH="+path)
	if out, err := cmd.CombinedOutput(); err != nil || !bytes.Contains(out, []byte("was locked")) {
		t.Errorf("%v\n%s", err, out)
	}
}

func TestCreateRefusesAnExistingFile(t *testing.T) {
	path, data := write(t, 2)
	if _, err := Create(path); !errors.Is(err, os.ErrExist) {
		t.Errorf("error %v", err)
	}
	if now, _ := os.ReadFile(path); !bytes.Equal(now, data) {
		t.Error("the file was changed")
	}
}

// After a failed write nothing more is written, and what stands is readable.
func TestErrorsStay(t *testing.T) {
	path, _ := write(t, 2)
	l, _, err := Open(path, func(Entry) error { return nil })
	if err != nil {
		t.Fatal(err)
	}
	good := l.f
	l.f, err = os.Open(path) // for reading: writing fails
	if err != nil {
		t.Fatal(err)
	}
	if _, err := l.Append(object{"lost", 2}); err == nil {
		t.Fatal("no error")
	}
	l.f.Close()
	l.f = good
	if _, err := l.Append(object{"after", 2}); err == nil || l.Err() == nil {
		t.Error("the error was forgotten")
	}
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	if objects, _, err := read(path); err != nil || len(objects) != 2 {
		t.Errorf("%d objects, %v", len(objects), err)
	}
}

func TestRejectsWhatIsNoObject(t *testing.T) {
	l, err := Create(filepath.Join(t.TempDir(), "log"))
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	for _, v := range []any{nil, 3, []int{1}, struct{}{}, func() {}} {
		if _, err := l.Append(v); err == nil {
			t.Errorf("appended %v", v)
		}
	}
	if _, err := l.Append(object{"still fine", 1}); err != nil {
		t.Error(err)
	}
}

// Many writers at once, and every line is whole.
func TestConcurrentWriters(t *testing.T) {
	path := filepath.Join(t.TempDir(), "log")
	l, err := Create(path)
	if err != nil {
		t.Fatal(err)
	}
	var wg sync.WaitGroup
	for i := range 64 {
		wg.Go(func() {
			for j := range 20 {
				p, err := l.Append(object{strings.Repeat("y", i), j})
				if err == nil {
					err = l.Sync(p)
				}
				if err != nil {
					t.Error(err)
				}
			}
		})
	}
	wg.Wait()
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	if objects, _, err := read(path); err != nil || len(objects) != 64*20 {
		t.Errorf("%d objects, %v", len(objects), err)
	}
}

// What was appended while a sync was under way shares the next one.
func TestWritersShareASync(t *testing.T) {
	l, err := Create(filepath.Join(t.TempDir(), "log"))
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	l.sync.Lock()
	l.syncing = true // as if a slow disk were at it
	l.sync.Unlock()
	var appended, synced sync.WaitGroup
	appended.Add(64)
	for i := range 64 {
		synced.Go(func() {
			p, err := l.Append(object{"shared", i})
			appended.Done()
			if err == nil {
				err = l.Sync(p)
			}
			if err != nil {
				t.Error(err)
			}
		})
	}
	appended.Wait()
	l.sync.Lock()
	l.syncing = false
	l.idle.Broadcast()
	l.sync.Unlock()
	synced.Wait()
	if l.syncs != 1 {
		t.Errorf("%d syncs for 64 lines that waited for one, want 1", l.syncs)
	}
}

// However a log is mangled, opening it gives a true prefix or reports damage; it never invents,
// panics or hangs.
func FuzzOpen(f *testing.F) {
	_, data := write(f, 12)
	f.Add(uint16(100), uint16(0), uint8(0))
	f.Add(uint16(100), uint16(300), uint8(1))
	f.Add(uint16(50), uint16(200), uint8(2))
	f.Add(uint16(50), uint16(200), uint8(3))
	f.Fuzz(func(t *testing.T, a, b uint16, how uint8) {
		i, j := int(a)%len(data), int(b)%len(data)
		i, j = min(i, j), max(i, j)
		var mangled []byte
		switch how % 4 {
		case 0:
			mangled = data[:i]
		case 1: // flip
			mangled = bytes.Clone(data)
			mangled[i] ^= byte(b>>8) | 1
		case 2: // duplicate
			mangled = append(bytes.Clone(data[:j]), data[i:]...)
		case 3: // remove
			mangled = append(bytes.Clone(data[:i]), data[j:]...)
		}
		path := filepath.Join(t.TempDir(), "log")
		if err := os.WriteFile(path, mangled, 0o644); err != nil {
			t.Fatal(err)
		}
		objects, _, err := read(path)
		var damage *DamageError
		if err != nil && !errors.As(err, &damage) {
			t.Fatalf("neither a prefix nor damage: %v", err)
		}
		for n, o := range objects {
			if o.N != n || o.Text != strings.Repeat("é\n\"", n) {
				t.Fatalf("object %d is %+v, which was never written", n, o)
			}
		}
	})
}

func BenchmarkDurable(b *testing.B) {
	for _, writers := range []int{1, 64, 256} {
		b.Run(fmt.Sprintf("writers=%d", writers), func(b *testing.B) {
			l, err := Create(filepath.Join(b.TempDir(), "log"))
			if err != nil {
				b.Fatal(err)
			}
			defer l.Close()
			o := object{strings.Repeat("z", 2000), 1}
			work := make(chan struct{})
			var wg sync.WaitGroup
			for range writers {
				wg.Go(func() {
					for range work {
						p, err := l.Append(o)
						if err == nil {
							err = l.Sync(p)
						}
						if err != nil {
							b.Error(err)
						}
					}
				})
			}
			for b.Loop() {
				work <- struct{}{}
			}
			close(work)
			wg.Wait()
			b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "durable/s")
		})
	}
}

// What a file system does not support is told apart from what goes wrong, and is no error for a lax log.
func TestUnsafe(t *testing.T) {
	for _, tt := range []struct {
		err    error
		unsafe bool
	}{
		{nil, false}, {syscall.ENOSYS, true}, {syscall.EOPNOTSUPP, true}, {syscall.EINVAL, true}, {noLocks, true},
		{syscall.EIO, false}, {syscall.ENOSPC, false}, {ErrLocked, false},
	} {
		err := tt.err
		if err != nil {
			err = os.NewSyscallError("flock", err)
		}
		if got := Lax(false).unsafe(err); errors.Is(got, ErrUnsafe) != tt.unsafe || !errors.Is(got, err) {
			t.Errorf("%v: %v", err, got)
		}
		if got := Lax(true).unsafe(err); (got == nil) != (tt.unsafe || err == nil) {
			t.Errorf("%v, lax: %v", err, got)
		}
	}
	l, err := Lax(true).Create(filepath.Join(t.TempDir(), "log"))
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	if _, _, err := Lax(true).Open(l.path, func(Entry) error { return nil }); !errors.Is(err, ErrLocked) {
		t.Errorf("a lax log is locked where it can be: %v", err)
	}
}

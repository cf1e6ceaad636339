package timing

import (
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// loaded returns a process that has loaded a program and stands still.
func loaded(t *testing.T, program string) *side {
	t.Helper()
	cfg, err := config().filled()
	if err != nil {
		t.Fatal(err)
	}
	e := &evaluator{machine: machine(t), cfg: cfg}
	image, err := cfg.Build(t.Context(), program)
	if err != nil {
		t.Fatal(err)
	}
	s, err := e.start(t.Context(), image)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.close(); err != nil {
			t.Error(err)
		}
	})
	return s
}

// A process that is woken behind our back has its time counted, and is found out.
func TestWoken(t *testing.T) {
	s := loaded(t, "import threading\ndef spin():\n    while True: pass\nthreading.Thread(target=spin, daemon=True).start()\ndef f(x, out): pass\n")
	took, err := s.call(t.Context(), Floats([]float64{1}), 8, time.Minute)
	if err != nil {
		t.Fatal(err)
	}
	if err := s.settle(&took); err != nil {
		t.Errorf("while it stood still: %v", err)
	}
	kept, elapsed := s.copied(), took.elapsed
	if s.output()[0]++; kept[0] == s.output()[0] {
		t.Error("what is checked changes with the process's memory")
	}
	if err := unix.Kill(s.process.Pid(), unix.SIGCONT); err != nil {
		t.Fatal(err)
	}
	for begin := time.Now(); err == nil && time.Since(begin) < 5*time.Minute; err = s.settle(&took) {
		time.Sleep(50 * time.Millisecond)
	}
	if err == nil || !strings.HasPrefix(err.Error(), "ran on for ") {
		t.Errorf("when it was woken: %v after %v", err, took.cpu)
	}
	if took.elapsed < elapsed+50*time.Millisecond {
		t.Errorf("when it was woken, the time that passed went from %v to %v", elapsed, took.elapsed)
	}
}

// A process that reads nothing of what it is asked holds nobody up when its socket is full.
func TestReadsNothing(t *testing.T) {
	// It knows by the rubbish in its output that it is asked, and takes that away.
	s := loaded(t, `import mmap, os
half = int(os.environ["TIMING_HALF"])
shared = mmap.mmap(int(os.environ["TIMING_SHARED"]), 2 * half)
os.write(0, b"\n")
while True:
    if shared[half] == 0xA5:
        shared[half] = 0
        os.write(0, b"\n")
`)
	raw, err := s.words.SyscallConn()
	if err != nil {
		t.Fatal(err)
	}
	if err := raw.Control(func(fd uintptr) {
		_ = unix.SetsockoptInt(int(fd), unix.SOL_SOCKET, unix.SO_SNDBUF, 1)
	}); err != nil {
		t.Fatal(err)
	}
	calls := 0
	for ; err == nil && calls < 1000; calls++ {
		_, err = s.call(t.Context(), Floats([]float64{1}), 8, time.Minute)
	}
	if err == nil || calls < 2 || err.Error() != fault("did not read what it was asked").Error() {
		t.Errorf("after %d calls: %v", calls, err)
	}
}

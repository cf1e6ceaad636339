package python

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// sending has a candidate send an open file through every socket that it has, FILE times N of them.
const sending = `
import array, os, socket, stat, time
def run():
    FILE
    for fd in range(3, 64):
        try:
            if not stat.S_ISSOCK(os.fstat(fd).st_mode): continue
        except OSError: continue
        s = socket.socket(fileno=os.dup(fd))
        s.setblocking(False)
        try:
            for _ in range(1000): s.sendmsg([b"x"], [(socket.SOL_SOCKET, socket.SCM_RIGHTS, array.array("i", [f] * N))])
        except OSError: pass
    LAST
`

// fills writes most of what a temporary folder may hold, and deletes it where it is still open.
const fills = `f = os.open("big", os.O_RDWR | os.O_CREAT)
    for _ in range(30): os.write(f, b"x" * (1 << 20))
    os.unlink("big")`

// circling has a candidate hold a full temporary folder by sockets that are sent through each other, and die.
const circling = `
import array, os, socket
def run():
    f = os.open("big", os.O_RDWR | os.O_CREAT)
    for _ in range(60): os.write(f, b"x" * (1 << 20))
    os.unlink("big")
    a, b = socket.socketpair()
    for s in (a, b): s.sendmsg([b"x"], [(socket.SOL_SOCKET, socket.SCM_RIGHTS, array.array("i", [f, a.fileno(), b.fileno()]))])
    os._exit(0)
`

// inUse counts the descriptors of this process, and what shared memory and folders of candidates there are.
func inUse(t *testing.T) (descriptors, files int) {
	t.Helper()
	fds, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		t.Fatal(err)
	}
	for _, pattern := range []string{"/dev/shm/*", filepath.Join(os.TempDir(), scratchName+"*", "*")} {
		found, _ := filepath.Glob(pattern)
		files += len(found)
	}
	return len(fds), files
}

// TestSentDescriptors has candidates send descriptors to this process, which keeps none: nothing stays open here, and
// the next candidate, which fills its temporary folder, has all of it.
func TestSentDescriptors(t *testing.T) {
	cfg := hostileConfig
	cfg.Workers, cfg.fileBytes = 1, 64<<20
	dir := folder(t, inProcess)
	honest := "def run():\n  with open('mine', 'wb') as f:\n    for _ in range(60): f.write(b'x' * (1 << 20))\n  return [1]"
	for name, v := range map[string]victim{
		"Runner": without(t, cfg, nil), "Evaluator": evaluatorWithout(t, dir, cfg, nil),
		"Runner, bare": without(t, cfg, families["namespaces"]),
	} {
		for _, last := range []string{"os._exit(0)", "time.sleep(0.1); return [1]", "while True: pass"} {
			for _, file := range []string{"f = os.open('.', os.O_RDONLY)", fills} {
				for _, n := range []string{"4", "250"} {
					if last != "os._exit(0)" && n != "4" {
						continue
					}
					v.held().kind.timeout = time.Minute
					if last == "while True: pass" {
						v.held().kind.timeout = shortTime
					}
					fds, files := inUse(t)
					program := strings.NewReplacer("FILE", file, "N", n, "LAST", last).Replace(sending)
					for range 2 {
						_, _ = v.run(t.Context(), program) // an invalid candidate, or one that returns
					}
					if out, err := v.run(t.Context(), honest); err != nil || string(out) != "[1]" {
						t.Errorf("%s, %s, %s times %.20s: the next candidate got %s, %v", name, last, n, file, out, err)
					}
					if now, left := inUse(t); now > fds || left > files {
						t.Errorf("%s, %s, %s times %.20s: %d descriptors and %d files were open, now %d and %d", name, last, n, file,
							fds, files, now, left)
					}
				}
			}
		}
		for range 3 {
			_, _ = v.run(t.Context(), circling)
			if out, err := v.run(t.Context(), honest); err != nil || string(out) != "[1]" {
				t.Errorf("%s, a circle: the next candidate got %s, %v", name, out, err)
			}
		}
		settled(t, v)
	}
}

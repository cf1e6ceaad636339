package remote

import (
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/evoalloc/evoalloc/examples/internal/cli"
)

// listening returns the addresses that this process listens on, as the kernel tells them.
func listening(t *testing.T) (addresses []string) {
	t.Helper()
	own := map[string]bool{}
	links, err := filepath.Glob("/proc/self/fd/*")
	if err != nil {
		t.Fatal(err)
	}
	for _, link := range links {
		if to, err := os.Readlink(link); err == nil && strings.HasPrefix(to, "socket:[") {
			own[strings.Trim(to, "socket:[]")] = true
		}
	}
	for _, table := range []string{"tcp", "tcp6", "unix"} {
		text, err := os.ReadFile("/proc/self/net/" + table)
		if err != nil {
			continue
		}
		for line := range strings.Lines(string(text)) {
			f := strings.Fields(line)
			switch {
			case table == "unix" && len(f) > 6 && f[3] == "00010000" && own[f[6]]: // which accepts connections
				addresses = append(addresses, line)
			case table != "unix" && len(f) > 9 && f[3] == "0A" && own[f[9]]: // the state LISTEN
				addresses = append(addresses, f[1])
			}
		}
	}
	return addresses
}

// The server of --nats embedded cannot be reached by other users of the machine: it has no port and no socket.
func TestTheServerInThisProcessHasNoPort(t *testing.T) {
	before := listening(t)
	q, err := Open(&cli.Options{NATS: cli.NATS{URL: cli.Embedded}})
	if err != nil {
		t.Fatal(err)
	}
	defer q.close()
	if now := listening(t); len(now) > len(before) {
		t.Errorf("with the queue this process listens on %v, without it on %v", now, before)
	}
}

// Other users cannot read the streams of --nats embedded, with the programs in them, and nothing is left at the end.
func TestTheStreamsAreOurs(t *testing.T) {
	old := syscall.Umask(0)
	defer syscall.Umask(old)
	tmp := t.TempDir()
	t.Setenv("TMPDIR", tmp)
	q, err := Open(&cli.Options{NATS: cli.NATS{URL: cli.Embedded}})
	if err != nil {
		t.Fatal(err)
	}
	entries, err := os.ReadDir(tmp)
	if err != nil || len(entries) != 1 {
		t.Fatalf("%v, %v: want one folder", entries, err)
	}
	if info, err := entries[0].Info(); err != nil || info.Mode() != fs.ModeDir|0o700 {
		t.Errorf("the folder: %v, %v", info.Mode(), err)
	}
	if err := q.close(); err != nil {
		t.Error(err)
	}
	if entries, err := os.ReadDir(tmp); err != nil || len(entries) > 0 {
		t.Errorf("left: %v, %v", entries, err)
	}
}

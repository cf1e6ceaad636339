package sandbox

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/evoalloc/evoalloc/eval/isolation"
)

// planMounting returns a plan with private mounts that does without some mechanisms.
func planMounting(t *testing.T, ms ...isolation.Mechanism) *Plan {
	t.Helper()
	p := planWithout(t, ms)
	if !p.has(MountNS) {
		t.Skip(p.missing[MountNS])
	}
	return p
}

// With private mounts a command sees its own processes only, and of the devices only those that swallow
// or make bytes, which work.
func TestFurnish(t *testing.T) {
	for family, ms := range map[string][]isolation.Mechanism{"nothing": nil, "landlock": {Landlock},
		"seccomp": {Seccomp}} {
		t.Run("without "+family, func(t *testing.T) {
			p := planMounting(t, ms...)
			out, code := contained(t, p,
				`ls /proc | grep -c '^[0-9]'; ls /dev | tr '\n' ' '; ls /dev/fd/ | wc -l; ls -A /dev/shm`)
			lines := strings.Split(strings.TrimSpace(out), "\n")
			if code != 0 || len(lines) != 2 || len(lines[0]) > 1 {
				t.Fatalf("exit status %d: %q", code, out)
			}
			var want []string
			for _, name := range []string{"fd", "full", "null", "random", "shm", "stderr", "stdin", "stdout", "urandom",
				"zero"} {
				if _, err := os.Stat("/dev/" + name); err == nil || name == "shm" {
					want = append(want, name)
				}
			}
			got := strings.Fields(lines[1])
			if got = got[:len(got)-1]; !slices.Equal(got, want) {
				t.Errorf("/dev holds %q, want %q", got, want)
			}
			out, code = contained(t, p,
				`echo x > /dev/null && head -c 4 /dev/urandom | wc -c && head -c 3 /dev/zero | wc -c && echo y > /dev/stderr && head -c 0 /dev/random`)
			if code != 0 || out != "4\n3\ny\n" {
				t.Errorf("devices: exit status %d, %q", code, out)
			}
		})
	}
}

// Private mounts are read-only but for the named folders, also without Landlock, and are gone with the
// command.
func TestFurnishReadOnly(t *testing.T) {
	p := planMounting(t, Landlock)
	allowed, other := t.TempDir(), t.TempDir()
	before := reads("/proc/self/mountinfo")
	script := fmt.Sprintf("echo 1 > here && echo 2 > %s/x && cat here && pwd && echo no > %s/x; chmod 0 %s; true <> /proc/self/mem", allowed, other, other)
	out, code := contained(t, p, script, allowed, filepath.Join(other, "not there"))
	if code == 0 || !strings.HasPrefix(out, "1\n/") || strings.Count(out, "Read-only file system") != 2 {
		t.Errorf("exit status %d: %s", code, out)
	}
	if text, err := os.ReadFile(filepath.Join(allowed, "x")); err != nil || string(text) != "2\n" {
		t.Errorf("what was written is %q, %v", text, err)
	}
	if info, err := os.Stat(other); err != nil || info.Mode().Perm() == 0 {
		t.Errorf("the mode of another folder was changed: %v", err)
	}
	if entries, err := os.ReadDir(other); err != nil || len(entries) > 0 {
		t.Errorf("another folder holds %v, %v", entries, err)
	}
	if after := reads("/proc/self/mountinfo"); after != before {
		t.Errorf("mounts were\n%s\nand are\n%s", before, after)
	}
}

// What cannot be mounted is an error that says what and why.
func TestScriptFails(t *testing.T) {
	for _, c := range []struct {
		why, want string
		s         func(s *script)
	}{
		{"on the way in", "joining nothing: bad file descriptor", func(s *script) {
			s.outer[0] = newCall("joining nothing", unix.SYS_SETNS, 999, 0)
		}},
		{"inside", "mounting nowhere: no such file or directory", func(s *script) {
			s.mount("mounting nowhere", "x", "/nonexistent", "", 0, "")
		}},
		{"nothing", "", func(s *script) {}},
	} {
		var s script
		s.outer = []call{newCall("asking who it is", unix.SYS_GETPID)}
		s.inner = []call{newCall("asking who it is", unix.SYS_GETPID)}
		c.s(&s)
		err := s.run()
		if (err == nil) != (c.want == "") || err != nil && err.Error() != c.want {
			t.Errorf("%s: %v, want %q", c.why, err, c.want)
		}
	}
}

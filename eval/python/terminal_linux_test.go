package python

import (
	"strings"
	"testing"

	"github.com/evoalloc/evoalloc/internal/sandboxtest"

	"github.com/evoalloc/evoalloc/internal/notrun"
)

// reading is a program that opens a terminal by every name it can think of, and returns what it read and
// what it could open.
const reading = `
import glob, os
def run():
    got = []
    for name in ["TERMINAL", "/dev/tty", "/dev/ptmx"] + glob.glob("/proc/[0-9]*/rootTERMINAL"):
        try:
            fd = os.open(name, os.O_RDONLY | os.O_NONBLOCK | os.O_NOCTTY)
        except OSError:
            continue
        got.append(name)
        try:
            got.append(os.read(fd, 4096).decode())
        except OSError:
            pass
    return got
`

// devices is an honest program that uses what is left of /dev.
const devices = `
import os
def run():
    with open("/dev/null", "w") as null, open("/dev/zero", "rb") as zero, open("/dev/urandom", "rb") as random:
        null.write("x")
        return [len(os.urandom(4)), len(zero.read(3)), len(random.read(2)), len(os.listdir("/dev/fd")) > 2]
`

// A candidate cannot read, and so take away, what the user types at a terminal, with either private
// mounts or Landlock.
func TestTerminal(t *testing.T) {
	t.Parallel()
	for family, ms := range notrun.FewOf(families, "nothing", "namespaces") {
		t.Run("without "+family, func(t *testing.T) {
			r := without(t, hostileConfig, ms)
			name, terminal := sandboxtest.OpenTerminal(t)
			if out, err := r.Run(t.Context(), strings.ReplaceAll(reading, "TERMINAL", name), "run"); err != nil ||
				string(out) != "[]" {
				t.Errorf("the attack got %s, %v", out, err)
			}
			sandboxtest.Untouched(t, terminal)
			if out, err := r.Run(t.Context(), devices, "run"); err != nil || string(out) != "[4, 3, 2, true]" {
				t.Errorf("an honest candidate got %s, %v", out, err)
			}
		})
	}
}

package python

import (
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/evoalloc/evoalloc/internal/notrun"
	"github.com/evoalloc/evoalloc/internal/sandbox"
)

// cloning makes a process with the flags FLAGS, which ends at once, and returns its number or a negative error. As the
// flags may be those of vfork, both share a stack, and only machine code can do that.
const cloning = `
import ctypes, mmap, struct
def run():
    space = mmap.mmap(-1, 4096, prot=7)
    at = ctypes.addressof(ctypes.c_char.from_buffer(space))
    code = b"\xb8\x38\0\0\0"                                        # clone
    code += b"\x48\xbf" + struct.pack("<Q", FLAGS)
    code += b"\x31\xf6\x48\xba" + struct.pack("<Q", at + 2048)      # on this stack; where a descriptor goes
    code += b"\x4d\x31\xd2\x4d\x31\xc0\x0f\x05"
    code += b"\x48\x85\xc0\x74\x01\xc3"                             # return, in the parent
    code += b"\x31\xff\xb8\x3c\0\0\0\x0f\x05"                       # exit, in the child
    space[:len(code)] = code
    return ctypes.CFUNCTYPE(ctypes.c_long)(at)()
`

// Where a keeper limits the number of processes, the flags with which the interpreter itself was started without asking
// the keeper are not left to candidates, which could have any number of processes by them.
func TestNobodyForksUnasked(t *testing.T) {
	e := evaluatorWithout(t, folder(t, inProcess), hostileConfig, families["namespaces"])
	if !e.Isolation().Has(sandbox.Processes) || !e.Isolation().Has(sandbox.Seccomp) {
		t.Log("nothing limits processes here:", e.Isolation())
		notrun.Skip(t)
	}
	const vfork, asStarted = "0x4000 | 0x100 | 17", "0x4000 | 0x100 | 17 | 0x1000"
	for _, try := range []struct {
		what, flags string
		may         bool
	}{{"as vfork does, which the keeper is asked about", vfork, true}, {"as the interpreter was made", asStarted, false}} {
		out, err := e.run(t.Context(), strings.ReplaceAll(cloning, "FLAGS", try.flags))
		if made := err == nil && !strings.HasPrefix(string(out), "-"); made != try.may || err != nil {
			t.Errorf("a process made %s: got %s, %v", try.what, out, err)
		}
	}
}

// startsEnv has this test's own program start another, and say how that went.
const startsEnv = "EVOALLOC_TEST_STARTS"

// A Go program that an evaluator runs starts others all the same, though Go uses those flags where it can.
func TestGoProgramsStartOthers(t *testing.T) {
	if os.Getenv(startsEnv) != "" {
		if err := exec.Command("true").Run(); err != nil {
			t.Fatal(err)
		}
		return
	}
	program, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cfg := hostileConfig
	cfg.Memory = 8 << 30 // of which Go reserves much
	e := evaluatorWithout(t, folder(t, inProcess), cfg, families["namespaces"])
	out, err := e.run(t.Context(), strings.NewReplacer("PROGRAM", program, "NAME", startsEnv).Replace(`
import os, subprocess
def run():
    p = subprocess.run(["PROGRAM", "-test.run=^TestGoProgramsStartOthers$"], env={**os.environ, "NAME": "1"},
                       stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    return [p.returncode, p.stdout[:1000]]
`))
	if err != nil || !strings.HasPrefix(string(out), "[0,") {
		t.Errorf("got %s, %v", out, err)
	}
}

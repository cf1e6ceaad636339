package python

import (
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/evoalloc/evoalloc/eval"
	"github.com/evoalloc/evoalloc/eval/isolation"
	"github.com/evoalloc/evoalloc/internal/sandbox"

	"github.com/evoalloc/evoalloc/internal/notrun"
)

// A sibling attacks what the candidates of one interpreter share, with each other and with it. Its
// program returns what went through; another, run by the next candidate, returns what it found of the
// first. After both, an honest candidate must get what it got before.
type sibling struct {
	file string // in testdata/hostile/siblings, with run for the first and find for the next
	why  string
	// only are the mechanisms of which one is enough and one is needed; where all are missing the attack
	// may go through, and docs/security.md says so. None: it never may.
	only []isolation.Mechanism
}

var siblings = []sibling{
	{"replies", "pipes reopen by name: a line on the interpreter's own pipe puts every later candidate out of step", nil},
	{"malformed", "a line that is not understood was an error of the infrastructure and ended the run", nil},
	{"flood", "bytes without a line's end were collected without a bound", nil},
	{"commands", "who reads the commands has later programs and can answer for them", nil},
	{"memory", "the memory of a fork holds what its parent held: the programs before it", nil},
	{"closed", "a folder without leave to write in it is of no use to the next", nil},
	{"nonblocking", "flags belong to the open file, not to the descriptor", nil},
	{"options", "so do a socket's options", nil},
	{"shutdown", "and its end", nil},
	{"letters", "attributes, mode, times and flags of the folder outlive what lies in it", nil},
	{"locks", "a lock belongs to the open file, and is held as long as somebody has it open", nil},
	{"capacity", "so does a pipe's capacity", nil},
	{"flight", "descriptors can be sent through a socket, and wait there for whoever reads", nil},
	{"deep", "folders can be nested deeper than files can be open", nil},
	{"threads", "threads count towards what a container or a user may have, and so to the next one's fork", nil},
	{"parent", "files under /proc of the interpreter can be read and written by its user", nil},
	{"limits", "limits, niceness and processors of the interpreter are handed to all its forks", nil},
	{"ipc", "System V shared memory and keyrings belong to nobody who ends", []isolation.Mechanism{sandbox.Seccomp}},
	{"shm", "so do shared memory and semaphores with a name", nil},
}

// honest does what candidates do: it computes, prints, writes a file, starts a thread and returns more
// than a socket holds at once.
const honest = `
import os, sys, threading
def run():
    import numpy as np
    with open("mine", "w") as f: f.write("x" * 100000)
    t = threading.Thread(target=lambda: None)
    t.start()
    t.join()
    print("y" * 300000)
    xs = np.arange(40000) * 1.0
    return [len(open("mine").read()), sorted(os.listdir(".")).index("mine"), float(xs.sum()), xs.tolist()]
`

// TestSiblings has candidates attack those that come after them, on one interpreter, without any one
// family of mechanisms.
func TestSiblings(t *testing.T) {
	t.Parallel()
	cfg := hostileConfig
	cfg.Workers, cfg.Timeout, cfg.Processes = 1, 20*time.Second, 0
	for family, ms := range notrun.FewOf(families, "nothing", "namespaces") {
		t.Run("without "+family, func(t *testing.T) {
			if notrun.Soak || family == "nothing" {
				t.Run("Runner", func(t *testing.T) { testSiblings(t, without(t, cfg, ms)) })
			}
			if notrun.Soak || family != "nothing" {
				t.Run("Evaluator", func(t *testing.T) { testSiblings(t, evaluatorWithout(t, folder(t, inProcess), cfg, ms)) })
			}
		})
	}
}

func testSiblings(t *testing.T, v victim) {
	want, err := v.run(t.Context(), honest)
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range siblings {
		t.Run(s.file, func(t *testing.T) {
			text, err := os.ReadFile(filepath.Join("testdata", "hostile", "siblings", s.file+".py"))
			if err != nil {
				t.Fatal(err)
			}
			went := found(t, v, strings.ReplaceAll(string(text), "NUMBER", "271828"))
			if strings.Contains(string(text), "def find") {
				went = append(went, found(t, v, strings.ReplaceAll(strings.ReplaceAll(string(text), "def run", "def first"),
					"def find", "def run"))...)
			}
			open := len(s.only) > 0 && !slices.ContainsFunc(s.only, v.Isolation().Has)
			if len(went) > 0 && !open {
				t.Errorf("went through: %q, although %s", went, s.why)
			}
			for range 2 {
				if got, err := v.run(t.Context(), honest); err != nil || string(got) != string(want) {
					t.Errorf("the honest candidate got %.100s, %v, and %.100s before", got, err, want)
				}
			}
		})
	}
	settled(t, v)
}

// found returns what an attack's program returned, a list of words; one that fails found nothing. An
// error that is not the program's would end a run.
func found(t *testing.T, v victim, program string) (names []string) {
	t.Helper()
	out, err := v.run(t.Context(), program)
	var bad *eval.ProgramError
	if errors.As(err, &bad) {
		t.Logf("ended: %.200s", bad.Reason)
		return nil
	}
	if err != nil {
		t.Errorf("the run would end: %.300v", err)
		return nil
	}
	if err := json.Unmarshal(out, &names); err != nil {
		t.Errorf("%.100s: %v", out, err)
	}
	return names
}

package timing

import (
	"context"
	"flag"
	"fmt"
	"io"
	"log/slog"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"

	"github.com/evoalloc/evoalloc/eval/python"
	"github.com/evoalloc/evoalloc/internal/notrun"
)

// interpreter is a Python with NumPy, for all that runs a candidate; "" if this machine lacks one.
var interpreter string

func TestMain(m *testing.M) {
	var err error
	if interpreter, err = python.Find(context.Background(), "numpy"); err != nil {
		notrun.Say("eval/timing", "all that runs a candidate", err, "install python3 and python3-numpy")
		if err := flag.Set("test.skip", "^Example$"); err != nil {
			panic(err)
		}
	}
	os.Exit(run(m))
}

// run looks for files and memory that are left behind.
func run(m *testing.M) int {
	tmp, err := os.MkdirTemp("", "test-timing-")
	if err != nil {
		fmt.Println(err)
		return 1
	}
	defer os.RemoveAll(tmp)
	os.Setenv("TMPDIR", tmp)
	code := m.Run()
	if left, _ := filepath.Glob(tmp + "/evoalloc-*"); len(left) > 0 {
		fmt.Printf("left behind: %q\n", left)
		return 1
	}
	return code
}

var quiet = slog.New(slog.NewTextHandler(io.Discard, nil))

// seed is the obvious way to compute what is asked for.
const seed = `import numpy as np
def f(x, out):
    out[:] = np.exp(np.sin(x) + np.cos(x) ** 2)
`

// blocks is a fast one, whose temporary arrays stay in the cache: dividing the work further gains nothing.
const blocks = `import numpy as np
def f(x, out):
    for i in range(0, len(x), 8192):
        a, o = x[i:i+8192], out[i:i+8192]
        c = np.cos(a); np.multiply(c, c, out=c); np.sin(a, out=o); np.add(o, c, out=o); np.exp(o, out=o)
`

const size = 200_000

func draw(n int) func(*rand.Rand) []byte {
	return func(r *rand.Rand) []byte {
		xs := make([]float64, n)
		for i := range xs {
			xs[i] = 20*r.Float64() - 10
		}
		return Floats(xs)
	}
}

func config() Config {
	return Config{Build: Python(interpreter, "f"), Baseline: seed, Input: draw(size), Pairs: 11,
		Others: func(r *rand.Rand) [][]byte { return [][]byte{nil, draw(1)(r), draw(4097)(r)} }, Check: Close(1e-12, 0)}
}

func machine(t *testing.T) *Machine {
	t.Helper()
	if interpreter == "" {
		notrun.Skip(t)
	}
	m, err := NewMachine(MachineConfig{Logger: quiet})
	if err != nil {
		t.Fatal(err)
	}
	return m
}

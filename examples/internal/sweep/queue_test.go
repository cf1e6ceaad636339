package sweep

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/evoalloc/evoalloc/internal/runtest"
)

// Scored by workers, a sweep over two tasks finds what it finds without them. A sweep that was made without them is
// over for one with them, too.
func TestThroughAQueue(t *testing.T) {
	alone, queued := t.TempDir(), t.TempDir()
	args := "--task cp,mmd --methods greedy,ucb --budgets 4,8 --splits 2 --N 2 --n-arms 2 --seeds 2 --offline-latency 0 --output "
	sweep := func(more string) (printed string) {
		return runtest.Output(t, func() {
			if err := Run(t.Context(), strings.Fields(args+more)); err != nil {
				t.Fatal(err)
			}
		})
	}
	if printed := sweep(alone); strings.Contains(printed, "worker") {
		t.Errorf("workers take part without --nats: %s", printed)
	}
	printed := sweep(queued + " --nats embedded --offline-latency 400ms") // for more than a second, after which it is said
	if !regexp.MustCompile(`\n[12] workers?, \d+ of \d+ slots? busy, `).MatchString(printed) {
		t.Errorf("the workers are not shown: %s", printed)
	}
	for _, name := range []string{"cp", "mmd"} {
		if !strings.Contains(printed, fmt.Sprintf("programs are scored by workers of the task %q", name)) {
			t.Errorf("no worker of %s: %s", name, printed)
		}
	}
	if n := evaluations(t, printed); n < 40 {
		t.Errorf("workers made %d evaluations", n)
	}
	if n := evaluations(t, sweep(alone+" --nats embedded")); n != 0 {
		t.Errorf("workers made %d evaluations of a sweep that was over", n)
	}
	want, got := csvOf(t, alone), csvOf(t, queued)
	if len(want) < 20 || len(got) != len(want) {
		t.Fatalf("%d rows, and %d of the sweep without workers", len(got), len(want))
	}
	best := 1 + slices.Index(want[0], "best")
	for i, row := range want {
		if !slices.Equal(got[i][:best], row[:best]) {
			t.Errorf("row %d is %v, and without workers %v", i, got[i][:best], row[:best])
		}
	}
}

// evaluations returns how many the workers made, as the last line says.
func evaluations(t *testing.T, printed string) (n int) {
	t.Helper()
	_, line, _ := strings.Cut(printed, " slots at the end; ")
	if _, err := fmt.Sscanf(line, "%d evaluations", &n); err != nil {
		t.Fatalf("%q in %s: %v", line, printed, err)
	}
	return n
}

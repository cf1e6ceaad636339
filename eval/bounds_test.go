package eval

import (
	"fmt"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
)

// What a program reports has bounds, however much it is, and what is left is decided by the names.
func TestCleanBounds(t *testing.T) {
	r := Result{Valid: true, Score: 1, Reason: strings.Repeat("é ", MaxReason), Metrics: map[string]float64{},
		Artifacts: map[string]string{}}
	for i := range 100_000 {
		r.Metrics[fmt.Sprintf("m%06d", i)] = float64(i)
		r.Artifacts[fmt.Sprintf("a%06d", i)] = "x"
	}
	r.Metrics["a"+strings.Repeat("n", MaxName)] = 1
	r.Artifacts["a"+strings.Repeat("n", MaxName)] = "x"
	r.Artifacts["0"] = "begin" + strings.Repeat("é", 1<<20) + "end"
	got := r.Clean()
	if n := len(got.Metrics); n != MaxMetrics || got.Metrics["m000999"] != 999 {
		t.Errorf("%d metrics, m000999 is %v", n, got.Metrics["m000999"])
	}
	if n := len(got.Artifacts); n != maxArtifacts || got.Artifacts["a000098"] != "x" {
		t.Errorf("%d artifacts", n)
	}
	long := got.Artifacts["0"]
	if len(long) > MaxArtifact || !strings.HasPrefix(long, "begin") || !strings.HasSuffix(long, "end") ||
		!utf8.ValidString(long) {
		t.Errorf("an artifact of %d bytes, %.20q", len(long), long)
	}
	if len(got.Reason) > MaxReason || !strings.HasSuffix(got.Reason, "é ...") {
		t.Errorf("a reason of %d bytes", len(got.Reason))
	}
	if diff := cmp.Diff(got, got.Clean()); diff != "" {
		t.Errorf("cleaning it again changes it (-once +twice):\n%s", diff)
	}
}

func TestCleanBoundsAllArtifacts(t *testing.T) {
	r := Result{Valid: true, Artifacts: map[string]string{"z": "small"}}
	for i := range 10 {
		r.Artifacts[fmt.Sprint(i)] = strings.Repeat("x", MaxArtifact)
	}
	r.Artifacts["y"] = "not \xff UTF-8"
	got, size := r.Clean().Artifacts, 0
	for name, text := range got {
		size += len(name) + len(text)
	}
	if size > MaxArtifactBytes || len(got) != 5 || got["z"] != "small" || got["y"] != "not \ufffd UTF-8" {
		t.Errorf("%d artifacts of %d bytes", len(got), size)
	}
}

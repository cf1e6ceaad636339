package folder

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// A folder's evaluator.py says what a tuner is to score: evaluate_tune, or else the first stage of its cascade.
func TestTuneEvaluator(t *testing.T) {
	for _, tt := range []struct {
		evaluator  string
		real, tune float64
		says       string
		reason     string
	}{
		{"def evaluate(p): return 0.75\ndef evaluate_tune(p): return 0.5\n", 0.75, 0.5, "", "its own"},
		{"def evaluate_stage1(p): return 0.6\ndef evaluate_stage2(p): return 0.25\n", 0.25, 0.6, "", "the first stage alone"},
		{"def evaluate_stage1(p): return 0.6\ndef evaluate_stage2(p): return 0.25\ndef evaluate_tune(p): return 0.1\n", 0.25,
			0.1, "", "its own comes first"},
		{"def evaluate(p): return 0.75\n", 0.75, 0, "neither evaluate_tune nor evaluate_stage1", "none"},
	} {
		dir := t.TempDir()
		evaluator := strings.ReplaceAll(tt.evaluator, "return ", "return {'combined_score': ")
		evaluator = strings.ReplaceAll(evaluator, "\n", "}\n")
		for name, text := range map[string]string{"evaluator.py": evaluator, "initial_program.py": "x = 1.5\n"} {
			if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		f := loaded(t, dir, bare)
		if r, err := f.Evaluate(t.Context(), "x = 1\n"); err != nil || r.Score != tt.real {
			t.Errorf("%s: scored %v %v %v, want %v", tt.reason, r.Score, r.Reason, err, tt.real)
		}
		e, err := f.TuneEvaluator(t.Context())
		if tt.says != "" {
			if !errors.Is(err, errors.ErrUnsupported) || !strings.Contains(err.Error(), tt.says) {
				t.Errorf("%s: error %v, want %q", tt.reason, err, tt.says)
			}
			continue
		}
		if err != nil {
			t.Fatal(err)
		}
		if r, err := e.Evaluate(t.Context(), "x = 1\n"); err != nil || r.Score != tt.tune {
			t.Errorf("%s: the tuner's score is %v %v %v, want %v", tt.reason, r.Score, r.Reason, err, tt.tune)
		}
		if again, err := f.TuneEvaluator(t.Context()); err != nil || again != e {
			t.Errorf("%s: asked again it is another one, %v", tt.reason, err)
		}
	}
}

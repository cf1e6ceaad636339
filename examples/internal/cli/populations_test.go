package cli

import (
	"strings"
	"testing"
	"time"
)

// What the stand-in for a model writes in JavaScript has a limit of its own, as some of it never ends. Real models'
// programs, other interpreters, and runs whose workers have a limit too keep the usual one.
func TestStandInEvalTimeout(t *testing.T) {
	for _, tt := range []struct {
		args string
		want time.Duration
	}{
		{"", time.Second},
		{"--like evoprompt-ga --task packing", time.Second},
		{"--eval-timeout 10s", 10 * time.Second},
		{"--eval-timeout 3s", 3 * time.Second},
		{"--runtime python", DefaultEvalTimeout},
		{"--nats embedded", DefaultEvalTimeout},
		{"--task text", DefaultEvalTimeout},
		{"--task " + t.TempDir(), DefaultEvalTimeout},
		{"--model qwen3-8b --api-base http://127.0.0.1:1/v1", DefaultEvalTimeout},
	} {
		p, err := ParsePopulations(strings.Fields(tt.args))
		if err != nil {
			t.Fatalf("%s: %v", tt.args, err)
		}
		if p.EvalTimeout != tt.want {
			t.Errorf("%s: a limit of %v, want %v", tt.args, p.EvalTimeout, tt.want)
		}
	}
}

package cli

import (
	"strings"
	"testing"
	"time"
)

// What the stand-in for a model writes in JavaScript has a limit of its own, as some of it never ends. Real models'
// programs, other interpreters, and runs whose workers have a limit too keep the usual one.
func TestStandInCPU(t *testing.T) {
	for _, tt := range []struct {
		args string
		want time.Duration // of processor time
	}{
		{"", standInCPU},
		{"--like evoprompt-ga --task packing", standInCPU},
		{"--eval-timeout 10s", 0},
		{"--eval-timeout 3s", 0},
		{"--runtime python", 0},
		{"--nats embedded", 0},
		{"--task text", 0},
		{"--task " + t.TempDir(), 0},
		{"--model qwen3-8b --api-base http://127.0.0.1:1/v1", 0},
	} {
		p, err := ParsePopulations(strings.Fields(tt.args))
		if err != nil {
			t.Fatalf("%s: %v", tt.args, err)
		}
		if p.EvalCPU != tt.want {
			t.Errorf("%s: a limit of %v, want %v", tt.args, p.EvalCPU, tt.want)
		}
	}
}

package main

import (
	"strings"
	"testing"
	"time"

	"github.com/evoalloc/evoalloc/examples/internal/cli"
)

// What the stand-in for a model writes in JavaScript has a limit of its own, as some of it never ends. Real models'
// programs, other interpreters, and runs whose workers have a limit too keep the usual one.
func TestStandInEvalTimeout(t *testing.T) {
	for _, tt := range []struct {
		args string
		want time.Duration
		cpu  time.Duration
	}{
		{"", time.Second, standInCPU},
		{"--like evoprompt-ga --task packing", time.Second, standInCPU},
		{"--eval-timeout 10s", 10 * time.Second, 0},
		{"--eval-timeout 3s", 3 * time.Second, 0},
		{"--runtime python", cli.DefaultEvalTimeout, 0},
		{"--nats embedded", cli.DefaultEvalTimeout, 0},
		{"--task text", cli.DefaultEvalTimeout, 0},
		{"--task " + t.TempDir(), cli.DefaultEvalTimeout, 0},
		{"--model qwen3-8b --api-base http://127.0.0.1:1/v1", cli.DefaultEvalTimeout, 0},
	} {
		p, err := parsePopulations(strings.Fields(tt.args))
		if err != nil {
			t.Fatalf("%s: %v", tt.args, err)
		}
		if p.EvalTimeout != tt.want || p.EvalCPU != tt.cpu {
			t.Errorf("%s: limits of %v and %v, want %v and %v", tt.args, p.EvalTimeout, p.EvalCPU, tt.want, tt.cpu)
		}
	}
}

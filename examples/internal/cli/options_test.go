package cli

import (
	"testing"
	"time"
)

// A step of a tree, such as a first build, may take longer than a program of a built-in task, unless the flag says
// how long.
func TestTreesHaveMoreTime(t *testing.T) {
	tree := []string{"--model", "qwen3-8b", "--base", t.TempDir(), "--change", "*.go", "--score", "true"}
	for _, tt := range []struct {
		args []string
		want time.Duration
	}{
		{nil, 10 * time.Second},
		{tree, 5 * time.Minute},
		{append(tree, "--eval-timeout", "3s"), 3 * time.Second},
	} {
		o, err := parsed(tt.args)
		if err != nil {
			t.Fatal(err)
		}
		if o.EvalTimeout != tt.want {
			t.Errorf("%q: a limit of %v: want %v", tt.args, o.EvalTimeout, tt.want)
		}
	}
}

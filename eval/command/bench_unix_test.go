//go:build unix

package command

import (
	"syscall"
	"testing"
	"time"
)

// BenchmarkEvaluate takes the processor time of this process and of what it starts, for one command and for steps. A busy
// machine changes that less than wall time.
//
//	go test ./eval/command -run '^$' -bench Evaluate
func BenchmarkEvaluate(b *testing.B) {
	one, three := shell, shell
	one.Logger, three.Logger, three.Args = quiet, quiet, nil
	three.Build, three.Run, three.Score = []string{"true"}, []string{"sh", "{program}"}, []string{"cat"}
	for name, cfg := range map[string]Config{"one": one, "steps": three} {
		e, err := NewEvaluator(cfg)
		if err != nil {
			b.Fatal(err)
		}
		b.Run(name, func(b *testing.B) {
			before := processorTime(b)
			for b.Loop() {
				if r, err := e.Evaluate(b.Context(), "echo 1"); err != nil || r.Score != 1 {
					b.Fatal(r, err)
				}
			}
			b.ReportMetric(float64((processorTime(b)-before).Microseconds())/float64(b.N), "cpu-us/op")
		})
	}
}

func processorTime(b *testing.B) (total time.Duration) {
	b.Helper()
	for _, who := range []int{syscall.RUSAGE_SELF, syscall.RUSAGE_CHILDREN} {
		var u syscall.Rusage
		if err := syscall.Getrusage(who, &u); err != nil {
			b.Fatal(err)
		}
		total += time.Duration(u.Utime.Nano() + u.Stime.Nano())
	}
	return total
}

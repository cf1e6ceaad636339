package analysis

import (
	"bytes"
	"strconv"
	"testing"

	"github.com/evoalloc/evoalloc/internal/stream"
)

// Everything that is said of a grid, for 10,000 runs of ten breadths in budgets up to 512:
//
//	go test ./evolve/analysis -run '^$' -bench TenThousandRuns -benchtime 1x
func BenchmarkTenThousandRuns(b *testing.B) {
	k := surfaces[0].known
	k.seeds = 1000
	runs := k.runs(stream.New(1, "bench", 0))
	for b.Loop() {
		g, err := NewGrid(runs, GridConfig{})
		if err != nil {
			b.Fatal(err)
		}
		if _, err := g.Intervals(Bootstrap{}, BySearch, budgets(g)...); err != nil {
			b.Fatal(err)
		}
		if _, err := g.Rivals(); err != nil {
			b.Fatal(err)
		}
		if _, err := g.HeldOut(); err != nil {
			b.Fatal(err)
		}
		if _, err := g.Envelope(0, 1); err != nil {
			b.Fatal(err)
		}
		analyzeBreadths(b, runs)
	}
	b.ReportMetric(float64(len(runs)), "runs")
}

// analyzeBreadths takes a threshold of each breadth's runs and compares the first breadth with the others.
func analyzeBreadths(b *testing.B, runs []Curve) {
	b.Helper()
	byN := map[int][]Curve{}
	finals := map[int][]float64{}
	for _, r := range runs {
		byN[r.N] = append(byN[r.N], r)
		finals[r.N] = append(finals[r.N], r.Final())
	}
	for n, same := range byN {
		if _, err := (Bootstrap{}).Threshold(same, 0.5, 0.9); err != nil {
			b.Fatal(err)
		}
		if _, err := (Bootstrap{}).Paired(Scores{finals[n]}, Scores{finals[1]}); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkRead reads the paper's form of a file of 512 children.
func BenchmarkRead(b *testing.B) {
	var file bytes.Buffer
	file.WriteString(`{"task": "cp", "model": "m", "T": 64, "N": 8, "seed": 40, "trajectory": [{"generation": 0, "best_fitness": 0}`)
	for g := range 64 {
		file.WriteString(`, {"generation": ` + strconv.Itoa(g+1) + `, "best_fitness": 0.5, "children": [`)
		for i := range 8 {
			if i > 0 {
				file.WriteByte(',')
			}
			file.WriteString(`{"idx": 0, "seed": 4294967295, "fitness": 0.123456789, "valid": true, "attempts": [{"attempt_idx": 0, "latency_s": 12.5, "status": "ok",
				"usage": {"prompt_tokens": 1234, "completion_tokens": 2345, "total_tokens": 3579}, "finish_reason": "stop", "timed_out": false}], "final_status": "ok"}`)
		}
		file.WriteString(`]}`)
	}
	file.WriteString(`]}`)
	b.SetBytes(int64(file.Len()))
	for b.Loop() {
		if _, err := Read(bytes.NewReader(file.Bytes())); err != nil {
			b.Fatal(err)
		}
	}
}

func budgets(g *Grid) []float64 {
	var all []float64
	for _, c := range g.Budgets() {
		all = append(all, float64(c))
	}
	return all
}

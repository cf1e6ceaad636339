package sweep

import (
	"fmt"
	"maps"
	"strings"

	"github.com/evoalloc/evoalloc/evolve/journal"
	"github.com/evoalloc/evoalloc/evolve/report"
	"github.com/evoalloc/evoalloc/llm"
	"github.com/evoalloc/evoalloc/task"
)

// base returns the path of the run's files in package report's layout, without their ending:
// TASK/MODEL/METHOD_C<C>_T<T>_N<N>_seed<seed> for a single search,
// bandit/TASK/MODEL/METHOD_C<C>_T<T>_K<arms>_seed<seed> for several, where N follows from C and T.
func (r Trial) base() string {
	h := r.header(llm.Model{Key: r.Model})
	path := h.GreedyPath(r.Seed)
	if r.Arms > 1 {
		path = report.BanditHeader{Header: h, Algo: r.Method, BanditSeed: uint64(r.Seed),
			ArmSeeds: make([]uint32, r.Arms)}.Path()
	}
	return strings.TrimSuffix(path, ".json")
}

// header returns the header of the run's result.
func (r Trial) header(spec llm.Model) report.Header {
	h := report.Header{Task: r.Task, Model: spec, T: r.T, N: r.N}
	if r.Arms == 1 && r.Method != greedy {
		h.Kind = r.Method
	}
	return h
}

// Path returns the path of one of the run's files within a sweep's folder: ending is ".journal", ".json" or ".done".
func (r Trial) Path(ending string) string { return r.base() + ending }

// fingerprint returns everything that decides a run, for the header of its journal and its marker.
func (p Plan) fingerprint(r Trial) journal.Fingerprint {
	m := p.Methods[r.of.method]
	f := journal.Fingerprint{
		"task":   fmt.Sprintf("%s, programs and prompt %s", r.Task, task.Digest(p.Tasks[r.of.task])),
		"model":  p.Models[r.of.model].Spec.String(),
		"method": strings.TrimSpace(m.Name + " " + m.Settings),
		"arms":   fmt.Sprint(r.Arms),
		"T":      fmt.Sprint(r.T),
		"N":      fmt.Sprint(r.N),
		"seed":   fmt.Sprint(r.Seed),
	}
	if e, ok := task.As[interface{ Fingerprint() string }](p.Tasks[r.of.task]); ok { // of the task's evaluator
		f["evaluator"] = e.Fingerprint()
	}
	if s := p.Models[r.of.model].Settings; s != "" {
		f[settings] = s
	}
	maps.Copy(f, p.Fingerprint)
	return f
}

// settings is the name in a fingerprint of [Model].Settings.
const settings = "model settings"

// fitted returns now as it is compared with then, which may be from before settings were recorded.
func fitted(then, now journal.Fingerprint) journal.Fingerprint {
	if _, has := then[settings]; then == nil || has {
		return now
	}
	now = maps.Clone(now)
	delete(now, settings)
	return now
}

//go:build unix

package view

import (
	"bufio"
	"encoding/json"
	"fmt"
	"math"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"gonum.org/v1/gonum/stat/distuv"
)

// What it costs a run to be watched: pairs of the same run, one alone and one with readers, in turn, by the processor
// time of this process, the readers' own included. Each sub-benchmark reports the mean of the pairs' difference and
// half of its 95 % interval, in percent of a run and in processor time by call.
//
//	go test ./evolve/view -run '^$' -bench Watched -benchtime 30x
func BenchmarkWatched(b *testing.B) {
	for _, tt := range []struct {
		name        string
		pages, deaf int
	}{
		{"server alone", 0, 0},
		{"a page", 1, 0},
		{"a page and 50 readers that never read", 1, 50},
	} {
		b.Run(tt.name, func(b *testing.B) {
			var cpu, wall, each []float64
			for i := range b.N {
				alone, with := func() took { return watched(b, -1, 0) }, func() took { return watched(b, tt.pages, tt.deaf) }
				var c [2]took
				if i%2 == 0 {
					c[0], c[1] = alone(), with()
				} else {
					c[1], c[0] = with(), alone()
				}
				cpu = append(cpu, 100*(c[1].cpu/c[0].cpu-1))
				each = append(each, 1e6*(c[1].cpu-c[0].cpu)/watchedCalls)
				wall = append(wall, 100*(c[1].wall/c[0].wall-1))
			}
			report := func(values []float64, unit string) {
				mean, half := interval(values)
				b.ReportMetric(mean, unit)
				b.ReportMetric(half, "±"+unit)
			}
			report(cpu, "cpu-%")
			report(wall, "wall-%")
			report(each, "cpu-µs/call")
		})
	}
}

// watchedCalls is how many calls a run of the benchmark makes, in about two seconds.
const watchedCalls = 768

// took is what a run took, in seconds.
type took struct{ cpu, wall float64 }

// watched makes a run with so many pages that look at it and readers that never read, or without a Server if pages is
// below 0.
func watched(b *testing.B, pages, deafs int) took {
	b.Helper()
	path := filepath.Join(b.TempDir(), "run.journal")
	g := bench{calls: watchedCalls, arms: 4, latency: 20 * time.Millisecond}
	if pages >= 0 {
		s, err := NewServer(ServerConfig{})
		if err != nil {
			b.Fatal(err)
		}
		if _, err := s.Listen(""); err != nil {
			b.Fatal(err)
		}
		defer s.Close() // not part of the run
		if err := s.Follow(filepath.Dir(path)); err != nil {
			b.Fatal(err)
		}
		for range pages {
			go look(b, s)
		}
		for range deafs {
			deaf(b, s, "/api/events")
		}
	}
	begin, used := time.Now(), processor(b) // readers are connected, and what they ask for now counts
	g.run(b.Context(), b, path)
	return took{processor(b) - used, time.Since(begin).Seconds()}
}

// look does what a page does, but for drawing, until the Server closes.
func look(b *testing.B, s *Server) {
	a, err := client.Do(request(b, s, "/api/events"))
	if err != nil {
		return
	}
	defer a.Body.Close()
	next := rowCursor{}
	for lines := bufio.NewScanner(a.Body); lines.Scan(); {
		if lines.Text() == "" {
			continue
		}
		var l listing
		if ask(b, s, "/api/runs", &l) != nil || len(l.Runs) == 0 {
			continue
		}
		var st struct{ Next rowCursor }
		if ask(b, s, fmt.Sprintf("/api/state?run=%s&children=%d&rounds=%d", l.Runs[0].ID, next.Children, next.Rounds),
			&st) != nil {
			return
		}
		next = st.Next
	}
}

// ask reads an answer. It fails once the Server has closed.
func ask(b *testing.B, s *Server, path string, to any) error {
	a, err := client.Do(request(b, s, path))
	if err != nil {
		return err
	}
	defer a.Body.Close()
	return json.NewDecoder(a.Body).Decode(to)
}

// processor returns the processor time that this process has used, in seconds.
func processor(b *testing.B) float64 {
	b.Helper()
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		b.Fatal(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano()).Seconds()
}

// interval returns the mean of values and half of its 95 % interval, by Student's t.
func interval(values []float64) (mean, half float64) {
	n := float64(len(values))
	for _, v := range values {
		mean += v / n
	}
	square := 0.0
	for _, v := range values {
		square += (v - mean) * (v - mean)
	}
	if n < 2 {
		return mean, math.NaN()
	}
	return mean, distuv.StudentsT{Sigma: 1, Nu: n - 1}.Quantile(0.975) * math.Sqrt(square/(n-1)/n)
}

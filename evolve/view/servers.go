package view

import (
	"cmp"
	"maps"
	"slices"
	"time"

	"github.com/evoalloc/evoalloc/llm"
)

// servers are the endpoints that were asked.
type servers struct {
	names []string
	all   map[string]*server
}

// A server is one endpoint while its run is read.
type server struct {
	statuses  map[string]int
	latencies []time.Duration // of answered attempts: the last ones
	next      int             // of latencies, the one to be replaced
	errors    notes
}

// The most that is kept of endpoints: how many there are, and of how many answers the median latency is taken.
const (
	mostServers   = 100
	mostLatencies = 1 << 10
)

func newServers() servers { return servers{all: map[string]*server{}} }

// onlyServer names the endpoint of attempts that name none: there is one then.
const onlyServer = "the endpoint"

// add takes in how an attempt ended.
func (s *servers) add(now int64, a llm.Attempt) {
	name := cmp.Or(short(a.Endpoint), onlyServer)
	v := s.all[name]
	if v == nil {
		if len(s.names) >= mostServers {
			return
		}
		v = &server{statuses: map[string]int{}, errors: newNotes()}
		s.all[name] = v
		s.names = append(s.names, name)
	}
	v.statuses[statusOf(a)]++
	if a.Status == llm.OK {
		v.answered(a.Latency)
	} else if a.Err != "" {
		v.errors.add(now, statusOf(a), a.Err)
	}
}

// statusOf returns how an attempt ended, with the kind of a failure.
func statusOf(a llm.Attempt) string {
	if a.Status == llm.Failed && a.Kind != "" {
		return string(a.Status) + ": " + short(a.Kind)
	}
	return string(a.Status)
}

func (v *server) answered(took time.Duration) {
	if len(v.latencies) < mostLatencies {
		v.latencies = append(v.latencies, took)
		return
	}
	v.latencies[v.next] = took
	v.next = (v.next + 1) % mostLatencies
}

// list returns what the page shows of the endpoints, in the order in which they were asked first.
func (s *servers) list() []endpointState {
	list := []endpointState{}
	for _, name := range s.names {
		v := s.all[name]
		list = append(list, endpointState{Name: name, Statuses: maps.Clone(v.statuses), Latency: median(v.latencies).Seconds(), Errors: v.errors.frequent()})
	}
	return list
}

// median returns the middle of the times, 0 if there are none.
func median(times []time.Duration) time.Duration {
	if len(times) == 0 {
		return 0
	}
	t := slices.Sorted(slices.Values(times))
	return (t[(len(t)-1)/2] + t[len(t)/2]) / 2
}

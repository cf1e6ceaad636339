package nats

import (
	"cmp"
	"strings"
)

// All names begin with the server's prefix, here evoalloc. Those of streams have it in upper case.
//
//	evoalloc.jobs.TASK.DIGEST.KEY          jobs, in the work queue EVOALLOC_JOBS. Its consumer TASK_DIGEST gives them out
//	$KV.EVOALLOC_RESULTS.TASK.DIGEST.KEY   results, in the bucket EVOALLOC_RESULTS
//	evoalloc.here.TASK.FROM                a worker's heartbeats
//	evoalloc.began.TASK.DIGEST.KEY         a worker begins a job
//	evoalloc.cancel.TASK.DIGEST.KEY        a run cancels a job
//	evoalloc.inbox.run.>                   the server's answers to a run
//	evoalloc.inbox.worker.FROM.>           the server's answers to a worker, with the jobs that it takes
//
// KEY is a hash of program and sample. FROM is the public key of the worker's NKey, or "any" without one.

// subject returns a subject of the prefix.
func (s Server) subject(tokens ...string) string { return s.Prefix + "." + strings.Join(tokens, ".") }

// lastToken returns the last part of a subject.
func lastToken(subject string) string { return subject[strings.LastIndexByte(subject, '.')+1:] }

func (s Server) jobs() string    { return strings.ToUpper(s.Prefix) + "_JOBS" }
func (s Server) results() string { return strings.ToUpper(s.Prefix) + "_RESULTS" }

// consumer returns the name of the task's consumer of jobs.
func (t Task) consumer() string { return t.token() + "_" + t.Digest }

// Permissions are the subjects that a user of the server may publish to and subscribe to.
type Permissions struct{ Publish, Subscribe []string }

// WorkerPermissions returns what workers of a prefix ("" means "evoalloc") need to take jobs, acknowledge them,
// look results up and store them. key is the public key of their NKey, or "" if they have none. It is part of the
// subjects of their inboxes and heartbeats, so workers of another key can neither read the ones nor send the others.
func WorkerPermissions(prefix, key string) Permissions {
	key = cmp.Or(key, anyKey)
	s := Server{Prefix: cmp.Or(prefix, defaultPrefix)}
	return Permissions{
		Publish: []string{
			"$JS.API.CONSUMER.INFO." + s.jobs() + ".*", "$JS.API.CONSUMER.MSG.NEXT." + s.jobs() + ".*",
			"$JS.ACK." + s.jobs() + ".>", "$JS.API.STREAM.INFO.KV_" + s.results(),
			"$JS.API.DIRECT.GET.KV_" + s.results() + ".>", "$KV." + s.results() + ".>",
			s.subject("here", "*", key), s.subject("began", ">"),
		},
		Subscribe: []string{s.subject("inbox", asWorker, key, ">"), s.subject("cancel", ">")},
	}
}

// RunPermissions returns what a run of a prefix ("" means "evoalloc") needs, including to make the streams.
func RunPermissions(prefix string) Permissions {
	s := Server{Prefix: cmp.Or(prefix, defaultPrefix)}
	return Permissions{
		Publish: []string{
			"$JS.API.>", "$JS.FC.>", "$KV." + s.results() + ".>", s.subject("jobs", ">"), s.subject("cancel", ">"),
		},
		Subscribe: []string{s.subject("inbox", asRun, ">"), s.subject("here", ">"), s.subject("began", ">")},
	}
}

package nats

import (
	"cmp"
	"strings"
)

// All names begin with the server's prefix, here evoalloc. A stream's name has it in upper case.
//
//	evoalloc.jobs.TASK.DIGEST.KEY.RUN          jobs, in the stream EVOALLOC_JOBS. RUN is the run's queue, a consumer
//	evoalloc.results.TASK.DIGEST.KEY           results, in the stream EVOALLOC_RESULTS
//	evoalloc.results.TASK.DIGEST.KEY.back.RUN  the history of a job's earlier deliveries, in the same stream
//	evoalloc.call.TASK                         a run's call for workers, each second
//	evoalloc.cancel.TASK                       a run's cancellation of a job
//	evoalloc.told.RUN.FROM                     a worker's notices to a run: that it is there, which jobs it began
//	evoalloc.inbox.run.>                       the server's answers to a run
//	evoalloc.inbox.worker.FROM.>               the server's answers to a worker
//	EVOALLOC_LARGE                             the object store of results beyond the message limit
//
// KEY is a hash of program and sample. FROM is the public key of the worker's NKey, or "any" without one.

// stream returns the name of a stream of the prefix.
func (s Server) stream(name string) string { return strings.ToUpper(s.Prefix) + "_" + name }

func (s Server) jobs() string    { return s.stream("JOBS") }
func (s Server) results() string { return s.stream("RESULTS") }
func (s Server) large() string   { return s.stream("LARGE") }

// subject returns a subject of the prefix.
func (s Server) subject(tokens ...string) string {
	return s.Prefix + "." + strings.Join(tokens, ".")
}

// Permissions are the subjects that a user of the server may publish to and subscribe to.
type Permissions struct{ Publish, Subscribe []string }

// WorkerPermissions returns what workers of a prefix ("" means "evoalloc") need to take jobs, acknowledge them,
// look results up and store them. key is the public key of their NKey, or "" if they have none. It is part of the
// subjects of their inboxes and notices, so workers of another key can neither read the ones nor send the others.
func WorkerPermissions(prefix, key string) Permissions {
	key = cmp.Or(key, anyKey)
	s := Server{Prefix: cmp.Or(prefix, defaultPrefix)}
	bucket := "OBJ_" + s.large()
	return Permissions{
		Publish: []string{
			"$JS.API.CONSUMER.MSG.NEXT." + s.jobs() + ".*", "$JS.ACK." + s.jobs() + ".>",
			"$JS.API.DIRECT.GET." + s.results() + ".>", s.subject("results", ">"), s.subject("told", "*", key),
			"$O." + s.large() + ".>", "$JS.API.STREAM.INFO." + bucket, "$JS.API.DIRECT.GET." + bucket + ".>",
			"$JS.API.STREAM.PURGE." + bucket,
		},
		Subscribe: []string{s.subject("inbox", asWorker, key, ">"), s.subject("call", "*"), s.subject("cancel", "*")},
	}
}

// RunPermissions returns what a run of a prefix ("" means "evoalloc") needs, including to make the streams.
func RunPermissions(prefix string) Permissions {
	s := Server{Prefix: cmp.Or(prefix, defaultPrefix)}
	return Permissions{
		Publish: []string{
			"$JS.API.>", "$JS.FC.>", s.subject("jobs", ">"), s.subject("call", "*"), s.subject("cancel", "*"),
		},
		Subscribe: []string{s.subject("inbox", asRun, ">"), s.subject("results", ">"), s.subject("told", "*", "*")},
	}
}

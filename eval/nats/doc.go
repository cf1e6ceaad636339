// Package nats evaluates programs on other machines, over NATS JetStream. An [Evaluator] sends each program to a queue
// and waits for its result. A [Worker] takes programs from it and scores them with an evaluator of its own machine.
// Workers come and go as they like.
//
// # What is promised
//
// A task is addressed by its name and a digest of all that decides its scores ([Digest]). A worker never gets a program
// of a task whose digest is another. A run whose task nobody serves ends within seconds, with an error that names both
// digests.
//
// A worker takes a job only when it has a free slot. While it evaluates it says so every fifth of [Config.Lost]; a job
// whose worker was silent for Lost goes to another. So does the job of a worker that is cut off for longer: that worker
// cannot be told from one that the program ended. A job is acknowledged after its result is stored.
//
// A job that came back like this is a suspect, as are those that the same worker had beside it: one of these programs may
// have ended the worker. A worker evaluates a suspect once all its slots are free, and nothing beside it. If that worker
// is silent, too, it counts as a death of the program, and a program with [Config.Deaths] deaths is invalid, for that
// reason. A job that a worker held and had not begun does not count. An evaluator's own error is not the program's, nor is it that
// a worker was told to end: the job goes to another worker, and no death is counted. The run ends if a job failed three
// times, on three workers or on all that there are.
//
// Results are kept by task, digest, program and sample, whoever asked. A program that has a result is not evaluated
// again, and one that is queued or under way for another run is not queued twice. A worker that is killed between the
// end of an evaluation and the storing of its result leaves the evaluation to another: that one is made twice, and its
// result counts once.
//
// A result beyond the message limit of 1 MiB goes through the object store. If that is full, the score is kept, and the
// artifacts are cut until the result fits into a message.
//
// An evaluation that its run gives up is cancelled at the worker, unless another run has asked for it, too. Each run has
// a queue of its own, and workers take from the queues in turn, so a run with many jobs does not hold up one with few.
//
// # Subjects, streams and permissions
//
// All names begin with [Server.Prefix], here evoalloc. A stream's name has it in upper case.
//
//	evoalloc.jobs.TASK.DIGEST.KEY.RUN      jobs, in the stream EVOALLOC_JOBS; one consumer a run, named RUN
//	evoalloc.results.TASK.DIGEST.KEY       results, in the stream EVOALLOC_RESULTS
//	evoalloc.results.TASK.DIGEST.KEY.back  how often workers gave a job back, in the same stream
//	evoalloc.call.TASK                     runs say each second which queues they have
//	evoalloc.cancel.TASK                   runs say which jobs they gave up
//	evoalloc.told.RUN.FROM                 workers tell a run that they are there and what they began, and runs
//	                                       that they wait for a job of its queue, too
//	evoalloc.inbox.run.>                   answers of the server to a run
//	evoalloc.inbox.worker.FROM.>           answers of the server to a worker
//	EVOALLOC_LARGE                         the object store of results beyond the message limit
//
// A KEY is a hash of program and sample. FROM is the public key of the worker's NKey, "any" for workers without one, and
// "run" for a run. What a role has to be allowed is what [WorkerPermissions] and [RunPermissions]
// return. A worker can read jobs and end them, read and write results, and remove large ones, as the object store needs it.
// It cannot queue or list jobs, nor speak for a worker of another key or read the jobs that the server sends to it.
// Workers of one prefix trust each other in what is left: one that lies can store false results for any task of the
// prefix, or end jobs so that they are queued again and again. Give tasks whose workers are not to be trusted alike
// prefixes of their own. docs/security.md has what one that lies can and cannot do.
//
// What a worker says is checked: a result has to be of the task, the digest and the key of its subject, and of a
// job that waits. A job whose key is not that of its program is refused by the worker. Both are counted, in [Stats] and
// [WorkerStats].
//
// # What is evaluated
//
// An [eval.Composite] is one job: the worker evaluates its parts. An evaluator that asks a model does not belong behind
// a queue, as its calls would be outside of the run's budget, and the model's key on every worker.
package nats

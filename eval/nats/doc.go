// Package nats evaluates programs on other machines, over NATS JetStream. An [Evaluator] queues each program and waits
// for its result. A [Worker] takes programs from the queues and scores them with an evaluator of its own machine.
// Workers may come and go.
//
// A task is known by its name and by a digest of all that decides its scores ([Digest]). A worker only gets programs of
// its own digest. A run whose task nobody serves ends within seconds.
//
// A result is stored by task, digest, program and sample, and serves every run that asks later. If a worker ends or
// falls silent for [Config.Lost], another one gets its jobs and evaluates each of them alone, as one of them may have
// ended the worker. A program that ends [Config.Deaths] workers is invalid.
//
// Each run has a queue of its own, and workers take from the queues in turn. A canceled evaluation stops at its worker.
// A run that was killed and goes on under the same [Config.Run] finds the jobs that it had queued.
//
// Workers of one [Server.Prefix] must trust each other, as one that lies can store false results. docs/operations.md
// tells how to run all this and what it promises, docs/security.md what a lying worker can do, and subjects.go what is
// sent where.
package nats

package nats

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/nats-io/nats.go/jetstream"
)

// What the server keeps on its disk. A run makes the streams that are missing. Those that exist are used as they are: in
// a cluster, make them beforehand with as many replicas as are wanted.
const (
	jobsAge      = 24 * time.Hour      // age at which a job that no worker took is dropped
	jobsBytes    = 256 << 20           // of all queued jobs: further ones wait at their runs
	resultsAge   = 30 * 24 * time.Hour // age at which a result is forgotten
	resultsBytes = 1 << 30             // of all results: the oldest are forgotten
)

// setUp makes the missing streams and the consumer of a task's jobs, which gives a job out again after lost, and returns
// the bucket of results.
func (s Server) setUp(ctx context.Context, js jetstream.JetStream, t Task, lost time.Duration) (jetstream.KeyValue,
	error) {
	for _, c := range []jetstream.StreamConfig{{
		Name: s.jobs(), Subjects: []string{s.subject("jobs", ">")}, Retention: jetstream.WorkQueuePolicy,
		Discard: jetstream.DiscardNew, MaxAge: jobsAge, MaxBytes: jobsBytes,
	}, { // a bucket of keys and values, but for Discard: where it is full, the oldest results make room
		Name: "KV_" + s.results(), Subjects: []string{"$KV." + s.results() + ".>"}, MaxMsgsPerSubject: 1,
		Discard: jetstream.DiscardOld, MaxAge: resultsAge, MaxBytes: resultsBytes, AllowRollup: true, DenyDelete: true,
		AllowDirect: true,
	}} {
		if _, err := js.CreateStream(ctx, c); err != nil && !errors.Is(err, jetstream.ErrStreamNameAlreadyInUse) {
			return nil, fmt.Errorf("nats: making the stream %s: %w", c.Name, err)
		}
	}
	_, err := js.CreateOrUpdateConsumer(ctx, s.jobs(), jetstream.ConsumerConfig{
		Durable: t.consumer(), FilterSubject: s.subject("jobs", t.token(), t.Digest, "*"),
		AckPolicy: jetstream.AckExplicitPolicy, AckWait: lost, MaxDeliver: -1, MaxAckPending: -1, MaxWaiting: 1 << 16,
		InactiveThreshold: jobsAge,
	})
	if err != nil {
		return nil, fmt.Errorf("nats: making the consumer %s: %w", t.consumer(), err)
	}
	bucket, err := js.KeyValue(ctx, s.results())
	if err != nil {
		return nil, fmt.Errorf("nats: looking for the bucket %s: %w", s.results(), err)
	}
	return bucket, nil
}

// isPresent reports whether err means that a stream has a message of the subject, where none was expected.
func isPresent(err error) bool {
	api := (*jetstream.APIError)(nil)
	return errors.As(err, &api) && (api.ErrorCode == jetstream.JSErrCodeStreamWrongLastSequence ||
		api.ErrorCode == jetstream.JSErrCodeStreamWrongLastSequenceConstant) // from a stream with replicas
}

// sleep waits for d or until ctx ends.
func sleep(ctx context.Context, d time.Duration) {
	select {
	case <-time.After(d):
	case <-ctx.Done():
	}
}

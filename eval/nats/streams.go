package nats

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
)

// What the server keeps on its disk, in streams that a run makes. Streams that exist are used as they are: in a
// cluster, make them beforehand with as many replicas as are wanted.
const (
	jobsAge      = 24 * time.Hour      // age at which a job that no worker took is dropped
	resultsAge   = 30 * 24 * time.Hour // age at which a result is forgotten
	resultsBytes = 1 << 30             // of all results: the oldest are forgotten
)

// storage is how many bytes the server keeps of what runs cannot be without. A Config has defaults, and tests less.
type storage struct {
	jobs  int64 // of all queued jobs: further ones wait at their runs; 0 means 256 MiB
	large int64 // of results beyond the message limit; 0 means 256 MiB
}

// setUp makes the missing streams.
func (s Server) setUp(ctx context.Context, js jetstream.JetStream, r storage) error {
	for _, c := range []jetstream.StreamConfig{{
		Name: s.jobs(), Subjects: []string{s.subject("jobs", ">")}, Retention: jetstream.WorkQueuePolicy,
		Discard: jetstream.DiscardNew, MaxAge: jobsAge, MaxBytes: cmp.Or(r.jobs, 256<<20),
	}, {
		Name: s.results(), Subjects: []string{s.subject("results", ">")}, MaxMsgsPerSubject: 1,
		Discard: jetstream.DiscardOld, MaxAge: resultsAge, MaxBytes: resultsBytes,
	}} {
		c.Storage, c.Replicas, c.AllowDirect = jetstream.FileStorage, 1, true
		err := retry(ctx, func() error {
			_, err := js.Stream(ctx, c.Name)
			return err
		})
		if err == nil {
			continue
		} else if !errors.Is(err, jetstream.ErrStreamNotFound) {
			return fmt.Errorf("nats: looking for the stream %s: %w", c.Name, err)
		}
		err = retry(ctx, func() error {
			_, err := js.CreateStream(ctx, c)
			return err
		})
		if err != nil && !errors.Is(err, jetstream.ErrStreamNameAlreadyInUse) {
			return fmt.Errorf("nats: making the stream %s: %w", c.Name, err)
		}
	}
	err := retry(ctx, func() error {
		_, err := js.CreateObjectStore(ctx, jetstream.ObjectStoreConfig{
			Bucket: s.large(), TTL: resultsAge + time.Hour, MaxBytes: cmp.Or(r.large, 256<<20),
			Storage: jetstream.FileStorage, Replicas: 1,
		})
		return err
	})
	if err != nil && !errors.Is(err, jetstream.ErrBucketExists) {
		return fmt.Errorf("nats: making the object store %s: %w", s.large(), err)
	}
	return nil
}

// Codes of temporary errors of JetStream: two runs make a stream at once, the server has just started or still loads
// the account, or a cluster has no leader yet.
const (
	storeFailed  = 10077
	createFailed = 10049
	noLeader     = 10008
)

// patience is how long such an attempt is repeated. A server without JetStream has the same errors permanently.
const patience = 5 * time.Second

// retry calls attempt until it succeeds, fails permanently, or patience ends. It returns the last error.
func retry(ctx context.Context, attempt func() error) error {
	for end := time.Now().Add(patience); ; sleep(ctx, 100*time.Millisecond) {
		err := attempt()
		if err == nil || !transient(err) || ctx.Err() != nil || time.Now().After(end) {
			return err
		}
	}
}

// transient reports whether err may be temporary.
func transient(err error) bool {
	if errors.Is(err, nats.ErrNoResponders) { // the server has not started JetStream yet
		return true
	}
	var api *jetstream.APIError
	if !errors.As(err, &api) {
		return false
	}
	switch api.ErrorCode {
	case storeFailed, createFailed, noLeader, jetstream.JSErrCodeJetStreamNotEnabled,
		jetstream.JSErrCodeJetStreamNotEnabledForAccount:
		return true
	}
	return false
}

// queue makes the queue of a run, unless it exists.
func (s Server) queue(ctx context.Context, js jetstream.JetStream, t Task, run string, lost time.Duration) error {
	c := jetstream.ConsumerConfig{
		Durable: run, FilterSubject: s.subject("jobs", t.token(), t.Digest, "*", run),
		AckPolicy: jetstream.AckExplicitPolicy, AckWait: lost, MaxDeliver: -1, MaxAckPending: -1, MaxWaiting: 1 << 16,
		InactiveThreshold: queueIdle,
	}
	if _, err := js.CreateOrUpdateConsumer(ctx, s.jobs(), c); err != nil {
		return fmt.Errorf("nats: making the queue %s: %w", run, err)
	}
	return nil
}

// queueIdle is how long the server keeps a queue after a worker last asked it for jobs.
const queueIdle = time.Hour

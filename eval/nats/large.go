package nats

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"github.com/evoalloc/evoalloc/eval"
	"github.com/evoalloc/evoalloc/internal/printable"
)

// A result beyond the message limit is an object in the object store, and its record has the object's name. Each object
// has a name of its own, so an object that is being read is never overwritten.

// maxRecord is the size limit, in bytes, of a message that holds a result.
const maxRecord = minPayload - 16<<10

// maxLarge bounds the bytes read from the object store. A clean result is far smaller.
const maxLarge = 8 << 20

// largePrefix begins the names of the objects of a key.
func largePrefix(t Task, key string) string { return t.token() + "." + t.Digest + "." + key + "." }

// objects returns the object store.
func (s Server) objects(ctx context.Context, js jetstream.JetStream) (jetstream.ObjectStore, error) {
	return js.ObjectStore(ctx, s.large())
}

// pack returns a record as the text of a message. A result that is too large for a message goes into the object store.
// If the store refuses the result, because the store is full say, pack keeps the score and cuts the artifacts. Any
// other error may be temporary.
func (w *Worker) pack(ctx context.Context, j job, r *record) ([]byte, error) {
	text, err := json.Marshal(r)
	if err != nil || len(text) <= maxRecord {
		return text, err
	}
	name := largePrefix(j.Task, j.Key) + random()
	switch err := w.storeLarge(ctx, name, r.Result); {
	case err == nil:
		r.Large, r.Result = name, eval.Result{}
	case !refusedObject(err):
		return nil, err
	default:
		r.Result = fitting(r.Result, maxRecord-1<<10)
		if w.logged.due("cut") {
			w.cfg.Logger.Warn("nats: results are cut to fit into a message: the object store refuses them",
				"bytes", len(text), "error", printable.Line(err.Error()))
		}
	}
	return json.Marshal(r)
}

// refusedObject reports whether err is the server's refusal of an object.
func refusedObject(err error) bool {
	var api *jetstream.APIError
	return errors.As(err, &api) || errors.Is(err, jetstream.ErrBucketNotFound)
}

func (w *Worker) storeLarge(ctx context.Context, name string, r eval.Result) error {
	text, err := json.Marshal(r)
	if err != nil {
		return err
	}
	store, err := w.cfg.Server.objects(ctx, w.js)
	if err != nil {
		return err
	}
	_, err = store.Put(ctx, jetstream.ObjectMeta{Name: name}, bytes.NewReader(text))
	return err
}

// dropLarge removes an object, unless the stored record names it: then only the server's answer to storing the record
// was lost.
func (w *Worker) dropLarge(ctx context.Context, subject, name string) {
	m, err := lastOf(ctx, w.nc, w.cfg.Server.results(), subject)
	if err != nil || m == nil {
		return // the object expires
	}
	var stored record
	if json.Unmarshal(m.Data, &stored) != nil || stored.Large == name {
		return
	}
	if store, err := w.cfg.Server.objects(ctx, w.js); err == nil {
		store.Delete(ctx, name) // or the object expires
	}
}

// fitting returns r in at most so many bytes of JSON. It halves the artifacts until r fits. If that is not enough, it
// keeps only the score and the reason.
func fitting(r eval.Result, most int) eval.Result {
	r = r.Clone()
	for limit := eval.MaxArtifact; !fits(r, most); limit /= 2 {
		if limit == 0 {
			return eval.Result{Score: r.Score, Valid: r.Valid, Reason: r.Reason}
		}
		for name, text := range r.Artifacts {
			if len(text) > limit {
				r.Artifacts[name] = strings.ToValidUTF8(text[:limit/2], "") + "..."
			}
		}
	}
	return r
}

func fits(r eval.Result, most int) bool {
	text, err := json.Marshal(r)
	return err == nil && len(text) <= most
}

// resultOf returns the result of a record, which may be in the object store. It retries for as long as a run waits for
// workers that have left, unless the error is errNoObject.
func (e *Evaluator) resultOf(ctx context.Context, r record) (eval.Result, error) {
	if r.Large == "" {
		return r.Result.Clone().Clean(), nil
	}
	for began := time.Now(); ; sleep(ctx, 200*time.Millisecond) {
		result, err := e.readLarge(ctx, r.Large)
		if over := e.table.reason(); err != nil && over != nil {
			return result, over
		}
		late := e.cfg.Gone >= 0 && time.Since(began) > e.cfg.Gone
		if err == nil || late || ctx.Err() != nil || errors.Is(err, errNoObject) {
			return result, err
		}
		if e.logged.due("large") {
			e.cfg.Logger.Warn("nats: a large result cannot be read yet",
				"object", printable.Line(r.Large), "error", printable.Line(err.Error()))
		}
	}
}

// errNoObject means that an object is missing or is not a result.
var errNoObject = errors.New("its object is missing or cannot be read")

func (e *Evaluator) readLarge(ctx context.Context, name string) (result eval.Result, err error) {
	defer func() {
		if err != nil {
			err = fmt.Errorf("nats: reading the large result %s: %w", name, err)
		}
	}()
	ctx, cancel := context.WithTimeout(ctx, apiTimeout)
	defer cancel()
	store, err := e.cfg.Server.objects(ctx, e.js)
	if errors.Is(err, jetstream.ErrBucketNotFound) {
		return result, errNoObject
	} else if err != nil {
		return result, err
	}
	object, err := store.Get(ctx, name)
	if errors.Is(err, jetstream.ErrObjectNotFound) {
		return result, errNoObject
	} else if err != nil {
		return result, err
	}
	defer object.Close()
	text, err := io.ReadAll(io.LimitReader(object, maxLarge))
	err = errors.Join(err, object.Error())
	if err != nil && !errors.Is(err, jetstream.ErrDigestMismatch) {
		return result, err
	}
	if err != nil || json.Unmarshal(text, &result) != nil {
		return result, errNoObject
	}
	return result.Clean(), nil
}

// forget removes an unreadable result.
func (e *Evaluator) forget(ctx context.Context, key string) error {
	s, t := e.cfg.Server, e.cfg.Task
	ctx, cancel := context.WithTimeout(ctx, apiTimeout)
	defer cancel()
	results, err := e.js.Stream(ctx, s.results())
	if err == nil {
		err = results.Purge(ctx, jetstream.WithPurgeSubject(s.subject("results", t.token(), t.Digest, key)))
	}
	if err != nil {
		return fmt.Errorf("nats: removing an unreadable result: %w", err)
	}
	return nil
}

package pool

import (
	"errors"
	"time"

	"github.com/evoalloc/evoalloc/llm"
)

// A verdict is what one call shows of its endpoint.
type verdict struct {
	classes []llm.Class   // of its attempts, but those that do not count
	err     error         // nil if the endpoint did its part
	silent  bool          // it does not count: the caller gave up
	there   bool          // something came back
	gone    bool          // err is Unavailable
	rest    time.Duration // how long the endpoint asks to be left alone
}

// judge returns the verdict of a call; gaveUp says that its caller did not wait for the end.
func judge(attempts []llm.Attempt, err error, gaveUp bool) verdict {
	e, classed := errors.AsType[*llm.Error](err)
	v := verdict{err: err, there: err == nil || classed && (e.Code != 0 || e.Kind == llm.KindBrokenReply)}
	v.silent = err != nil && (gaveUp || llm.StatusOf(err) == llm.Canceled || errors.Is(err, llm.ErrDraining))
	v.classes = classes(attempts, v.silent)
	if v.silent {
		return v
	}
	if classed && ownFault(e.Kind) {
		v.err = nil
	}
	if len(attempts) == 0 {
		v.classes = append(v.classes, llm.StatusOf(v.err).Class())
	}
	v.gone = llm.Unavailable(err)
	if classed && !v.gone && v.err != nil {
		v.rest = e.RetryAfter
	}
	return v
}

// classes returns what each attempt counts as. A canceled one counts as nothing, and so does the last
// of a call that was given up.
func classes(attempts []llm.Attempt, gaveUp bool) (out []llm.Class) {
	for i, a := range attempts {
		switch {
		case a.Status == llm.Canceled || gaveUp && i == len(attempts)-1:
		case ownFault(a.Kind):
			out = append(out, llm.Real)
		default:
			out = append(out, a.Status.Class())
		}
	}
	return out
}

// ownFault reports whether it was the request that was refused, by an endpoint that works.
func ownFault(kind string) bool { return kind == llm.KindBadRequest || kind == llm.KindContextLength }

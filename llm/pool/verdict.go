package pool

import (
	"errors"
	"time"

	"github.com/evoalloc/evoalloc/llm"
)

// A verdict is what one call reveals about its endpoint.
type verdict struct {
	classes []llm.Class   // of its attempts that count
	err     error         // nil if the endpoint worked
	silent  bool          // whether the call does not count, because its caller canceled it
	there   bool          // whether the endpoint answered
	gone    bool          // whether err is Unavailable
	rest    time.Duration // the pause that the endpoint asks for
}

// judge returns the verdict of a call; gaveUp means that its caller canceled it.
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

// classes returns the classes of the attempts that count: not canceled ones, and not the last of a canceled call.
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

// ownFault reports whether a working endpoint refused the request itself, or the model declined to answer it.
func ownFault(kind string) bool {
	return kind == llm.KindBadRequest || kind == llm.KindContextLength || kind == llm.KindNoAnswer
}

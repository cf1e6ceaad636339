package llm

import "errors"

// Remedy returns what a person can do about err, the error of a model call, in one line for a log: by the Kind and the
// Status of the [*Error] in its chain. It is "" if err holds no *Error, or if the caller gave up, and for the kinds for
// which the model is [Unavailable], as the errors of package llm/openai name the setting that is wrong.
func Remedy(err error) string {
	var e *Error
	if !errors.As(err, &e) {
		return ""
	}
	switch e.Status {
	case Timeout, Stalled:
		return "look at the load of the endpoint, have fewer calls in flight, or raise the model's Timeout"
	case Canceled:
		return ""
	}
	switch e.Kind {
	case KindRefused, KindAuth, KindNotFound:
		return ""
	case KindConnection:
		return "look at the log of the endpoint, and at proxies before it: the connection was cut"
	case KindBadRequest:
		return "the endpoint refuses the request itself: check the name of the model, its MaxTokens and its other fields"
	case KindContextLength:
		return "take a model with a longer context, lower the model's MaxTokens, or shorten the task's prompt"
	case KindRateLimit:
		return "have fewer calls in flight, or ask the provider for a higher limit"
	case KindBrokenReply:
		return "check that Config.BaseURL is that of an OpenAI-compatible API and ends where /chat/completions follows," +
			" and that the model's MaxTokens leaves room for an answer after any thinking"
	}
	return "look at the log of the endpoint"
}

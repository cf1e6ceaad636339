package llm

import "errors"

// Remedy returns advice on err, the error of a model call, in one line for a log, by the Kind and the Status of the
// [*Error] in its chain. It is "" if err has no *Error, if the caller canceled the call, and if the model is
// [Unavailable], since the errors of package llm/openai then name the wrong setting, or what the model said.
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
	case KindRefused, KindAuth, KindQuota, KindNotFound, KindNoAnswer:
		return ""
	case KindConnection:
		return "look at the log of the endpoint, and at proxies before it: the connection was cut"
	case KindBadRequest:
		return "the endpoint refuses the request itself: check the name of the model, its MaxTokens and its other fields"
	case KindContextLength:
		return "use a model with a longer context, lower the model's MaxTokens, or shorten the task's prompt"
	case KindRateLimit:
		return "have fewer calls in flight, or ask the provider for a higher limit"
	case KindBrokenReply:
		return "check that Config.BaseURL is that of an OpenAI-compatible API and ends where /chat/completions follows," +
			" and that the model's MaxTokens leaves room for an answer after any thinking"
	}
	return "look at the log of the endpoint"
}

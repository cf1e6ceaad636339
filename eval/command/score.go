package command

import (
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"

	"github.com/evoalloc/evoalloc/eval"
)

// An object is a JSON object whose members are not parsed yet.
type object map[string]json.RawMessage

// read makes a result from a command's JSON.
func read(value json.RawMessage) eval.Result {
	r := eval.Result{Metrics: make(map[string]float64), Artifacts: make(map[string]string)}
	if n, ok := number(value); ok {
		r.Score, r.Valid = n, true
		return r
	}
	outer, ok := members(value)
	if !ok {
		r.Reason = fmt.Sprintf("printed %.60s, which is neither a finite number nor an object", value)
		return r
	}
	metrics := outer
	if inner, ok := members(outer["metrics"]); ok {
		metrics = inner
	}
	rest := make(object)
	for name, v := range outer {
		inner, isObject := members(v)
		switch {
		case name == "metrics" && isObject:
		case name == "artifacts" && isObject:
			maps.Copy(r.Artifacts, words(inner))
		case name == "combined_score" || name == "error":
			metrics[name] = v
		default:
			rest[name] = v
		}
	}
	own := words(metrics)
	r.Metrics = numbers(metrics)
	maps.Copy(r.Artifacts, words(rest))
	maps.Copy(r.Artifacts, own)
	r.Score, r.Reason = score(r, own["error"])
	r.Valid = r.Reason == ""
	return r
}

// score returns the score of r, or why there is none, such as the failure that the command reported.
func score(r eval.Result, failure string) (float64, string) {
	if failure != "" && failure != "false" {
		return 0, failure
	}
	if n, ok := r.Metrics["combined_score"]; ok {
		return n, ""
	}
	if shown, ok := r.Artifacts["combined_score"]; ok {
		return 0, fmt.Sprintf("combined_score is %.100s, not a finite number", shown)
	}
	if len(r.Metrics) == 0 {
		return 0, "the command printed no number"
	}
	sum := 0.0
	for _, name := range slices.Sorted(maps.Keys(r.Metrics)) {
		sum += r.Metrics[name]
	}
	return sum / float64(len(r.Metrics)), ""
}

// members returns value as an object, if it is one.
func members(value json.RawMessage) (o object, ok bool) {
	return o, json.Unmarshal(value, &o) == nil && o != nil
}

// number returns value as a number, if it is one that fits.
func number(value json.RawMessage) (float64, bool) {
	if len(value) == 0 || !strings.ContainsRune("-0123456789", rune(value[0])) {
		return 0, false
	}
	var n float64
	err := json.Unmarshal(value, &n)
	return n, err == nil && !math.IsInf(n, 0)
}

// numbers returns the members that are numbers.
func numbers(o object) map[string]float64 {
	m := make(map[string]float64)
	for name, value := range o {
		if n, ok := number(value); ok {
			m[name] = n
		}
	}
	return m
}

// words returns the members that are neither numbers nor null: strings unquoted, the rest as JSON.
func words(o object) map[string]string {
	m := make(map[string]string)
	for name, value := range o {
		var s string
		if _, ok := number(value); ok || string(value) == "null" {
			continue
		}
		if json.Unmarshal(value, &s) != nil {
			s = string(value)
		}
		m[name] = s
	}
	return m
}

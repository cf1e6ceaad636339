package layers

import (
	"cmp"
	"context"
	"crypto/sha256"
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"

	"github.com/evoalloc/evoalloc/eval"
	"github.com/evoalloc/evoalloc/internal/memo"
)

// CallerConfig says what the programs of a [Caller] may call.
type CallerConfig struct {
	Runner   eval.Runner      // runs combinations and bases, each by itself; required
	Language string           // "javascript" or "python"; required
	Bases    []eval.Candidate // the pool, at least one base
	Entry    string           // the function of a base that is called; required
	// Calls is how many different calls of bases one run of a combination may make; 0 means 16.
	Calls int
}

// A Caller is an [eval.Runner] for combinations: programs that may call
//
//	base(index, ...args)
//
// which is what Entry of the base with that index returns for these arguments. They and what it returns are data, as
// JSON has it.
//
// A combination can neither read nor change a base, because a base is never where a combination is. Each is run by
// itself by the Runner: a combination that calls a base is ended, the base is run afresh with nothing but the
// arguments, and the combination is run again from its beginning with the answer. So a base keeps nothing from one call
// to the next, and what a combination does to its own machine it does to itself. The price is a run of the combination
// for each call that waits for the one before; a call with the same arguments is answered from memory. Programs have to be
// deterministic, as those of eval/js and eval/python are.
//
// A base that fails, or loops until its time is up, makes the call throw "base 2 failed" and no more. A combination
// that makes more calls than it may is invalid. Answers stand in the text that is run, so that they count in the
// Runner's limit of that.
//
// It is safe for concurrent use, as far as the Runner is.
type Caller struct {
	cfg    CallerConfig
	digest string
	memory *memo.Table[string]
}

var _ eval.Runner = (*Caller)(nil)

// answersKept is how many bytes of answers a Caller remembers.
const answersKept = 64 << 20

// NewCaller returns a Caller. It fails if a field of cfg is missing or wrong, naming the value.
func NewCaller(cfg CallerConfig) (*Caller, error) {
	_, known := drivers[cfg.Language]
	switch {
	case cfg.Runner == nil:
		return nil, errors.New("layers: CallerConfig.Runner is nil")
	case !known:
		return nil, fmt.Errorf("layers: CallerConfig.Language is %q: have %s", cfg.Language, strings.Join(slices.Sorted(maps.Keys(drivers)), ", "))
	case len(cfg.Bases) == 0:
		return nil, errors.New("layers: CallerConfig.Bases has no base")
	case !identifier.MatchString(cfg.Entry):
		return nil, fmt.Errorf("layers: CallerConfig.Entry is %q: need the name of a function", cfg.Entry)
	case cfg.Calls < 0:
		return nil, fmt.Errorf("layers: CallerConfig.Calls is %d: need 0 for 16, or more", cfg.Calls)
	}
	cfg.Calls, cfg.Bases = cmp.Or(cfg.Calls, 16), slices.Clone(cfg.Bases)
	return &Caller{cfg, Digest(cfg.Bases), memo.New(answersKept, func(s string) int { return len(s) + 64 })}, nil
}

// Run runs a combination, as often as it takes to answer its calls, and returns what entry returned.
func (c *Caller) Run(ctx context.Context, program, entry string) (json.RawMessage, error) {
	if !identifier.MatchString(entry) {
		return nil, fmt.Errorf("layers: the entry of a combination is %q: need the name of a function", entry)
	}
	answers := map[string]string{}
	for {
		out, err := c.cfg.Runner.Run(ctx, c.driven(program, c.driver().combine, map[string]string{
			"ANSWERS": literal(answers), "ENTRY": entry}, "evoalloc_combine"), "evoalloc_combine")
		if err != nil {
			return nil, err
		}
		asked, value, err := c.read(out)
		if err != nil || len(asked) == 0 {
			return value, err
		}
		before := len(answers)
		for _, key := range asked {
			if _, known := answers[key]; !known && len(answers) == c.cfg.Calls {
				return nil, &eval.ProgramError{Reason: fmt.Sprintf("made more than %d different calls of bases", c.cfg.Calls)}
			}
			if answers[key], err = c.answer(ctx, key); err != nil {
				return nil, err
			}
		}
		if len(answers) == before {
			return nil, &eval.ProgramError{Reason: "asked again for a call of a base that is answered"}
		}
	}
}

// read reads what a driven combination returned: the calls that it waits for, or its value. A combination can forge
// either, which gives it nothing that it could not ask for or return.
func (c *Caller) read(out json.RawMessage) (asked []string, value json.RawMessage, err error) {
	var r struct {
		Asked []string        `json:"asked"`
		Value json.RawMessage `json:"value"`
	}
	if err := json.Unmarshal(out, &r); err != nil {
		return nil, nil, &eval.ProgramError{Reason: "returned neither a value nor calls of bases"}
	}
	if len(r.Asked) == 0 && r.Value == nil {
		r.Value = json.RawMessage("null")
	}
	return r.Asked, r.Value, nil
}

// answer makes one call of a base: what it returned as JSON, or "" if it failed.
func (c *Caller) answer(ctx context.Context, key string) (string, error) {
	var call []json.RawMessage
	var index int
	var args []json.RawMessage
	if json.Unmarshal([]byte(key), &call) != nil || len(call) != 2 || json.Unmarshal(call[1], &args) != nil {
		return "", &eval.ProgramError{Reason: "called a base with arguments that are not data"}
	}
	if json.Unmarshal(call[0], &index) != nil || index < 0 || index >= len(c.cfg.Bases) {
		return "", &eval.ProgramError{Reason: fmt.Sprintf("called base %.40s: they are 0 to %d", call[0], len(c.cfg.Bases)-1)}
	}
	return c.memory.Do(ctx, sha256.Sum256([]byte(key)), func() (string, error) {
		out, err := c.cfg.Runner.Run(ctx, c.driven(c.cfg.Bases[index].Program, c.driver().base, map[string]string{
			"ARGS": quoted(string(call[1])), "ENTRY": c.cfg.Entry}, "evoalloc_base"), "evoalloc_base")
		var bad *eval.ProgramError
		if errors.As(err, &bad) {
			return "", nil
		}
		return string(out), err
	})
}

// String names the Runner and the pool.
func (c *Caller) String() string {
	return fmt.Sprintf("Caller(%v, %d bases %s, at most %d calls)", c.cfg.Runner, len(c.cfg.Bases), c.digest, c.cfg.Calls)
}

// A driver is what stands behind a program, so that lines in what the interpreter reports are the program's.
type driver struct{ combine, base string }

//go:embed caller.js
var callerJS string

//go:embed caller.py
var callerPython string

//go:embed base.js
var baseJS string

//go:embed base.py
var basePython string

var (
	drivers    = map[string]driver{"javascript": {callerJS, baseJS}, "python": {callerPython, basePython}}
	identifier = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]*$`)
	exports    = regexp.MustCompile(`(?m)^[ \t]*export\b`) // a JavaScript module
)

func (c *Caller) driver() driver { return drivers[c.cfg.Language] }

// driven returns a program with a driver behind it, whose words are replaced.
func (c *Caller) driven(program, driver string, words map[string]string, entry string) string {
	var list []string
	for _, w := range slices.Sorted(maps.Keys(words)) {
		list = append(list, w, words[w])
	}
	text := program + strings.NewReplacer(list...).Replace(driver)
	if c.cfg.Language == "javascript" && exports.MatchString(program) {
		text += "export { " + entry + " };\n"
	}
	return text
}

// literal returns a map as the text of a string, in either language, that holds it as JSON.
func literal(answers map[string]string) string {
	data, err := json.Marshal(answers)
	if err != nil {
		panic(fmt.Sprintf("layers: %v", err)) // strings are always data
	}
	return quoted(string(data))
}

// quoted returns text as a string literal of JavaScript and of Python. JSON's is one of both.
func quoted(text string) string {
	data, err := json.Marshal(text)
	if err != nil {
		panic(fmt.Sprintf("layers: %v", err)) // a string is always data
	}
	return string(data)
}

package tree

import (
	"cmp"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"unicode"

	"github.com/evoalloc/evoalloc/eval"
	"github.com/evoalloc/evoalloc/internal/patch"
)

// Config says what a search may change in a folder, and how that is scored.
type Config struct {
	// Name is what the task is called, before a hyphen and the base's hash; "" means the last element of Base.
	Name string
	// Base is the folder that programs are changes of. It is read once, by New, and nothing writes to it. What is in
	// folders called .git does not belong to it. [Checkout] makes such a folder of a git commit.
	Base string
	// Open are the paths of files that may be changed, made and deleted, as patterns: "*" stands for any characters of a
	// name, "**" for any of a path, "?" for one of a name: "pkg/**.go". At least one is required.
	Open []string
	// Frozen are patterns of paths that may not be changed although Open has them: tests, what scores. nil means none.
	Frozen []string
	// About says what the tree is, and what is to become better. It is the system message.
	About string
	// Evaluator scores programs that the rules above allow; others are invalid without it. A command.Evaluator with the
	// same Base is one. Required.
	Evaluator eval.Evaluator
	// Tokens is about how many tokens of a prompt show the files of the first parent; others get a quarter of it, for what
	// they change. 0 means 24,000.
	Tokens int
	// Feedback is how many bytes of metrics and artifacts the prompt shows; 0 means 4,000, and a negative number none.
	Feedback int
}

// What a program may be.
const (
	mostFiles = 64      // files that it changes and deletes
	mostBytes = 1 << 20 // of its text
)

// filled returns c with the defaults in place.
func (c Config) filled() (Config, error) {
	var err error
	if c.Base == "" {
		return c, errors.New("tree: Config.Base is empty: need a folder")
	}
	if c.Base, err = filepath.Abs(c.Base); err != nil {
		return c, fmt.Errorf("tree: Config.Base: %w", err)
	}
	c.Name = cmp.Or(c.Name, fit(filepath.Base(c.Base)))
	c.Tokens = cmp.Or(c.Tokens, 24_000)
	c.Feedback = cmp.Or(c.Feedback, 4_000)
	switch {
	case len(c.Open) == 0:
		return c, errors.New("tree: Config.Open is empty: need patterns of the files that may change")
	case c.Evaluator == nil:
		return c, errors.New("tree: Config.Evaluator is nil")
	case c.Tokens < 1:
		return c, fmt.Errorf("tree: Config.Tokens is %d: need at least 1", c.Tokens)
	}
	return c, nil
}

// fit returns name with hyphens in the place of what the name of a task cannot have.
func fit(name string) string {
	name = strings.Map(func(r rune) rune {
		if unicode.IsLetter(r) || unicode.IsDigit(r) || strings.ContainsRune("-_.", r) {
			return r
		}
		return '-'
	}, name)
	return cmp.Or(strings.TrimLeft(name, "-_."), "tree")
}

// patterns reads patterns; field names them in errors.
func patterns(field string, list []string) (all []patch.Pattern, err error) {
	for _, text := range list {
		p, err := patch.NewPattern(text)
		if err != nil {
			return nil, fmt.Errorf("tree: Config.%s has the pattern %q: %w", field, text, err)
		}
		all = append(all, p)
	}
	return all, nil
}

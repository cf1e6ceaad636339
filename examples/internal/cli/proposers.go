package cli

import (
	"crypto/sha256"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/evoalloc/evoalloc/bandit"
	"github.com/evoalloc/evoalloc/evolve"
	"github.com/evoalloc/evoalloc/llm"
)

// A Proposing is who proposes children.
type Proposing struct {
	LLM       llm.LLM           // the only model, or the first of several, which is asked beside the children
	Proposers []evolve.Proposer // several ways to ask; nil means LLM alone
	Weights   []float64         // the share of each; nil means that a bandit draws them
}

// Policy returns a policy over the proposers, nil for the default.
func (p Proposing) Policy() bandit.Policy {
	if p.Weights == nil {
		return nil
	}
	return bandit.Shares(p.Weights)
}

// Under returns p with each model in wrap.
func (p Proposing) Under(wrap func(llm.LLM) llm.LLM) Proposing {
	p.LLM, p.Proposers = wrap(p.LLM), slices.Clone(p.Proposers)
	for i := range p.Proposers {
		p.Proposers[i].LLM = wrap(p.Proposers[i].LLM)
	}
	return p
}

// operators are the instructions of --operators.
var operators = map[string]string{
	"rewrite":  "",
	"mutate":   "Change one thing of this program that may raise its score, and keep all else as it is.",
	"tune":     "Keep the method of this program, and choose its numbers better.",
	"simplify": "Write the simplest program that could score as high as this one.",
	"explore":  "Write a program that solves the task by a different method than this one.",
}

// proposing returns who proposes: each model with each of --operators and of --prompt.
func (o *Options) proposing(models []evolve.Proposer, weights []float64) (p Proposing, err error) {
	p.LLM = models[0].LLM
	instructions, err := o.instructions()
	if err != nil || len(models) == 1 && len(instructions) == 0 {
		return p, err
	}
	for i, m := range models {
		of := max(1, len(instructions))
		for k := range of {
			way := m
			if len(instructions) > 0 {
				way.Instruction = instructions[k].Instruction
				if way.Name = instructions[k].Name; len(models) > 1 {
					way.Name = m.Name + "/" + way.Name
				}
			}
			p.Proposers = append(p.Proposers, way)
			if weights != nil {
				p.Weights = append(p.Weights, weights[i]/float64(of))
			}
		}
	}
	return p, nil
}

// instructions returns the instructions of --operators and --prompt. With --task text, --prompt is where the search
// begins, and not an instruction.
func (o *Options) instructions() (list []evolve.Proposer, err error) {
	for _, name := range o.Operators {
		text, ok := operators[name]
		if !ok {
			return nil, Usagef("--operators has %q: it is one of %s", name,
				strings.Join(slices.Sorted(maps.Keys(operators)), ", "))
		}
		list = append(list, evolve.Proposer{Name: name, Instruction: text})
	}
	if o.Task != textKey {
		for _, file := range o.Prompt {
			text, err := os.ReadFile(file)
			if err != nil {
				return nil, &UsageError{fmt.Errorf("--prompt: %w", err)}
			}
			name := strings.TrimSuffix(filepath.Base(file), filepath.Ext(file))
			list = append(list, evolve.Proposer{Name: name, Instruction: strings.TrimSpace(string(text))})
		}
	}
	for i, p := range list {
		if slices.ContainsFunc(list[:i], func(q evolve.Proposer) bool { return q.Name == p.Name }) {
			return nil, Usagef("--operators and --prompt name %s twice: results could not tell them apart", p.Name)
		}
	}
	return list, nil
}

// asked says what --operators and --prompt ask for, "" for nothing of their own.
func (o *Options) asked() string {
	list, _ := o.instructions() // what is wrong was said before
	var words []string
	for _, p := range list {
		words = append(words, fmt.Sprintf("%s %x", p.Name, sha256.Sum256([]byte(p.Instruction))))
	}
	return strings.Join(words, ", ")
}

package cli

import (
	"flag"
	"fmt"
	"strconv"
	"strings"

	"github.com/evoalloc/evoalloc/llm"
	"github.com/evoalloc/evoalloc/task/folder"
)

// A folderLLM is what a run takes from the section llm of a folder's config.yaml.
type folderLLM struct {
	on    bool
	taken []string // flags with their values
	left  []string // what is not taken, and why
}

// register adds the flag to fs.
func (l *folderLLM) register(fs *flag.FlagSet) {
	fs.BoolVar(&l.on, "folder-llm", false,
		"with --task FOLDER: take models with their weights, temperature, top-p, the most tokens of an answer and reasoning "+
			"effort from its config.yaml\nThey stand in its section llm. A flag that is given counts in their place.")
}

// take sets the flags that are not given to what the folder's config.yaml says.
func (l *folderLLM) take(o *Options, fs *flag.FlagSet) error {
	if !l.on {
		return nil
	}
	if _, builtIn, err := o.Problem(); o.IsTree() || builtIn {
		return Usagef("--folder-llm has no effect on the task %s: it is for folders with a config.yaml", o.Task)
	} else if err != nil {
		return err
	}
	section, err := folder.ReadLLM(o.Task)
	if err != nil {
		return Usagef("--folder-llm: %s: %w", o.Task, err)
	}
	given := map[string]bool{}
	fs.Visit(func(f *flag.Flag) { given[f.Name] = true })
	values, err := l.values(o.Task, section, given)
	if err != nil {
		return err
	}
	for _, v := range values {
		switch name, value := v[0], v[1]; {
		case value == "":
		case given[name]:
			l.left = append(l.left, fmt.Sprintf("%s %s, as --%s is given", name, value, name))
		default:
			if err := fs.Set(name, value); err != nil {
				return Usagef("--folder-llm: %s is %s: %w", name, value, err)
			}
			l.taken = append(l.taken, name+" "+value)
		}
	}
	for _, key := range section.Ignored {
		if name := map[string]string{"llm.temperature": "temperature", "llm.top_p": "top-p"}[key]; name != "" {
			key = fmt.Sprintf("%s of 0, as --%s needs more", key, name)
		}
		l.left = append(l.left, key)
	}
	return nil
}

// values returns flags and what the section says of them, "" for nothing.
func (l *folderLLM) values(dir string, section folder.LLM, given map[string]bool) (values [][2]string, err error) {
	var models, names []string
	for _, m := range section.Models {
		if strings.ContainsAny(m.Name, ",=") {
			return nil, Usagef("--folder-llm: the model %q of %s has a comma or an equals sign in its name: give --model",
				m.Name, dir)
		}
		key := m.Name
		for _, known := range llm.Models() {
			if known.Name == m.Name {
				key = known.Key
			}
		}
		if len(section.Models) > 1 {
			key += "=" + number(m.Weight)
		}
		models, names = append(models, key), append(names, m.Name)
	}
	if len(models) == 0 && !given["model"] {
		return nil, Usagef("--folder-llm: config.yaml of %s names no model: give --model", dir)
	}
	values = [][2]string{{"model", strings.Join(models, ",")}}
	if !given["model"] {
		values = append(values, [2]string{"model-name", strings.Join(names, ",")})
	}
	return append(values, [2]string{"temperature", number(section.Temperature)}, [2]string{"top-p", number(section.TopP)},
		[2]string{"max-tokens", number(float64(section.MaxTokens))}, [2]string{"reasoning-effort", section.Effort}), nil
}

// number returns a number as a flag has it, "" for 0, which is not set.
func number(x float64) string {
	if x == 0 {
		return ""
	}
	return strconv.FormatFloat(x, 'f', -1, 64) // without an exponent, which --max-tokens refuses
}

// say prints what was taken and what was not.
func (l *folderLLM) say(dir string) {
	if !l.on {
		return
	}
	list := func(words []string) string {
		if len(words) == 0 {
			return "nothing"
		}
		return strings.Join(words, ", ")
	}
	Printf("from %s/config.yaml: %s; not taken: %s\n", strings.TrimRight(dir, "/"), list(l.taken), list(l.left))
}

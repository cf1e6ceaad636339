package folder

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strings"
	"time"

	"go.yaml.in/yaml/v3"
)

// settings are those of a config.yaml, with defaults.
type settings struct {
	system, language, suffix        string // "" if not set
	feedback                        int
	diffs, ignoreMarkers, noCascade bool
	timeout                         time.Duration
	memory                          int64 // 0 if not set
	thresholds                      []float64
	warnings                        []string
}

// readSettings reads the config.yaml called name; "" means that there is none.
func readSettings(dir, name string) (settings, error) {
	s := settings{feedback: defaultFeedback, timeout: defaultTimeout, thresholds: []float64{0.5, 0.75, 0.9}}
	if name == "" {
		return s, nil
	}
	text, err := readFile(dir, name, maxSettings)
	if err != nil {
		return s, err
	}
	s.diffs = true
	if err := s.parse(text); err != nil {
		return s, fmt.Errorf("%s: %w", name, err)
	}
	for i, w := range s.warnings {
		s.warnings[i] = name + ": " + w
	}
	return s, nil
}

// parse reads the settings from text.
func (s *settings) parse(text string) error {
	root, err := document(text)
	if err != nil {
		return err
	}
	top, err := mappingOf("", root)
	if err != nil {
		return err
	}
	all := map[string]*mapping{"": top}
	for _, section := range []string{"prompt", "llm", "evaluator"} {
		if all[section], err = top.mapping(section); err != nil {
			return err
		}
	}
	for _, take := range []func(map[string]*mapping) error{s.takeTask, s.takePrompt, s.takeEvaluator} {
		if err := take(all); err != nil {
			return err
		}
	}
	return s.warn(top)
}

// document returns the root of the only document in text, nil if it is empty.
func document(text string) (*yaml.Node, error) {
	d := yaml.NewDecoder(strings.NewReader(text))
	var doc, more yaml.Node
	if err := d.Decode(&doc); errors.Is(err, io.EOF) {
		return nil, nil
	} else if err != nil {
		return nil, err
	}
	if err := d.Decode(&more); !errors.Is(err, io.EOF) {
		return nil, errors.New("there is more than one document in it")
	}
	if len(doc.Content) == 0 {
		return nil, nil
	}
	return doc.Content[0], nil
}

func (s *settings) takeTask(all map[string]*mapping) error {
	top := all[""]
	enforce := true
	if err := cmp.Or(
		top.text("language", &s.language),
		top.text("file_suffix", &s.suffix),
		top.boolean("diff_based_evolution", &s.diffs),
		top.boolean("enforce_evolve_blocks", &enforce),
	); err != nil {
		return err
	}
	s.ignoreMarkers = !enforce
	s.language = strings.TrimSpace(s.language)
	if s.suffix = strings.TrimSpace(s.suffix); s.suffix != "" && !strings.HasPrefix(s.suffix, ".") {
		s.suffix = "." + s.suffix
	}
	return nil
}

func (s *settings) takePrompt(all map[string]*mapping) error {
	prompt, model := "", ""
	artifacts, bytes := true, float64(defaultFeedback)
	if err := cmp.Or(
		all["prompt"].text("system_message", &prompt),
		all["llm"].text("system_message", &model),
		all["prompt"].boolean("include_artifacts", &artifacts),
		all["prompt"].number("max_artifact_bytes", &bytes, 0, 1<<30),
	); err != nil {
		return err
	}
	prompt, model = message(prompt), message(model)
	s.system = cmp.Or(prompt, model)
	if s.system != model && model != "" {
		s.warnings = append(s.warnings, "prompt.system_message and llm.system_message differ: the first counts")
	}
	s.feedback = int(bytes)
	if !artifacts {
		s.feedback = 0
	}
	return nil
}

// message returns the system message m, or "" if m is OpenEvolve's default, which names one of its templates.
func message(m string) string {
	if m = strings.TrimSpace(m); m == "system_message" {
		return ""
	}
	return m
}

func (s *settings) takeEvaluator(all map[string]*mapping) error {
	e := all["evaluator"]
	const day = 24 * 3600
	cascade, seconds, megabytes := true, s.timeout.Seconds(), 0.0
	if err := cmp.Or(
		e.boolean("cascade_evaluation", &cascade),
		e.numbers("cascade_thresholds", &s.thresholds),
		e.number("timeout", &seconds, 0.001, 30*day),
		e.number("memory_limit_mb", &megabytes, 1, 1<<30),
	); err != nil {
		return err
	}
	s.noCascade = !cascade
	s.timeout = time.Duration(seconds * float64(time.Second))
	s.memory = int64(megabytes * (1 << 20))
	return nil
}

// A mapping is a section of the settings. A nil one is empty.
type mapping struct {
	path   string // "evaluator."; "" at the top
	names  []string
	values map[string]*yaml.Node
	twice  []string // duplicate names
	merges int      // mappings merged into it
}

// maxMerges bounds the mappings merged into another with "<<", since a few lines of aliases of aliases could make
// billions.
const maxMerges = 100

// mappingOf reads a mapping; null is an empty one.
func mappingOf(path string, n *yaml.Node) (*mapping, error) {
	m := &mapping{path: path, values: map[string]*yaml.Node{}}
	return m, m.add(n)
}

// add adds the entries of n, the last one of each name, and then missing ones from merged mappings.
func (m *mapping) add(n *yaml.Node) error {
	n = target(n)
	switch {
	case null(n):
		return nil
	case n.Kind != yaml.MappingNode:
		return fmt.Errorf("line %d: %s is not a mapping of names to values", n.Line, m.what())
	case m.merges > maxMerges:
		return fmt.Errorf("line %d: more than %d mappings are merged", n.Line, maxMerges)
	}
	m.merges++
	here := map[string]bool{}
	var merged []*yaml.Node
	for i := 0; i+1 < len(n.Content); i += 2 {
		key, value := target(n.Content[i]), n.Content[i+1]
		if key.Kind != yaml.ScalarNode {
			return fmt.Errorf("line %d: a name in %s is not text", key.Line, m.what())
		}
		if key.ShortTag() == "!!merge" {
			merged = append(merged, value)
			continue
		}
		if here[key.Value] {
			m.twice = append(m.twice, m.path+key.Value)
		} else if m.values[key.Value] != nil {
			continue // the mapping already has it
		} else {
			m.names = append(m.names, key.Value)
		}
		here[key.Value], m.values[key.Value] = true, value
	}
	for _, n := range merged {
		list := []*yaml.Node{n}
		if n = target(n); n.Kind == yaml.SequenceNode {
			list = n.Content
		}
		for _, n := range list {
			if err := m.add(n); err != nil {
				return err
			}
		}
	}
	return nil
}

func (m *mapping) what() string {
	if m.path == "" {
		return "the file"
	}
	return strings.TrimSuffix(m.path, ".")
}

// target returns the node that an alias stands for, and n if it is not an alias.
func target(n *yaml.Node) *yaml.Node {
	if n != nil && n.Kind == yaml.AliasNode {
		return n.Alias
	}
	return n
}

func null(n *yaml.Node) bool {
	return n == nil || n.Kind == yaml.ScalarNode && n.ShortTag() == "!!null"
}

// mapping returns the section called name.
func (m *mapping) mapping(name string) (*mapping, error) {
	return mappingOf(m.path+name+".", m.values[name])
}

// wrong returns the error of a value of name that is not as needed.
func (m *mapping) wrong(name, need string) error {
	n, value := target(m.values[name]), "a list or mapping"
	if n.Kind == yaml.ScalarNode {
		value = fmt.Sprintf("%.60q", n.Value)
	}
	return fmt.Errorf("line %d: %s is %s: need %s", m.values[name].Line, m.path+name, value, need)
}

// get decodes the scalar called name into v, and reports whether there is one.
func (m *mapping) get(name, need string, v any) (bool, error) {
	n := target(m.values[name])
	if null(n) {
		return false, nil
	}
	if n.Kind != yaml.ScalarNode || n.Decode(v) != nil {
		return false, m.wrong(name, need)
	}
	return true, nil
}

func (m *mapping) text(name string, v *string) error {
	_, err := m.get(name, "text", v)
	return err
}

func (m *mapping) boolean(name string, v *bool) error {
	_, err := m.get(name, "true or false", v)
	return err
}

func (m *mapping) number(name string, v *float64, least, most float64) error {
	x, need := 0.0, fmt.Sprintf("a number from %g to %g", least, most)
	ok, err := m.get(name, need, &x)
	switch {
	case err != nil || !ok:
		return err
	case !(x >= least && x <= most): // also NaN
		return m.wrong(name, need)
	}
	*v = x
	return nil
}

func (m *mapping) numbers(name string, v *[]float64) error {
	n := target(m.values[name])
	if null(n) {
		return nil
	}
	var list []float64
	bad := func(x float64) bool { return math.IsNaN(x) || math.IsInf(x, 0) }
	if n.Kind != yaml.SequenceNode || n.Decode(&list) != nil || slices.ContainsFunc(list, bad) {
		return m.wrong(name, "a list of finite numbers")
	}
	*v = slices.Concat([]float64{}, list) // not nil if empty: nil means not set
	return nil
}

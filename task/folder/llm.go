package folder

import (
	"cmp"
	"fmt"
	"slices"
)

// An LLM is what a folder's config.yaml says of the models that propose: its section llm, as OpenEvolve has it.
type LLM struct {
	Models      []weighted // in the order of the file; none if it names none
	Temperature float64    // 0 means not set
	TopP        float64    // 0 means not set
	MaxTokens   int        // 0 means not set
	Effort      string     // reasoning effort; "" means not set
	// Ignored are the other keys of the section, but for system_message, which is the task's; and a temperature or top_p
	// that is 0, which no [llm.Request] has.
	Ignored []string
}

// A weighted is a model and its share of the calls, above 0.
type weighted struct {
	Name   string
	Weight float64
}

// ReadLLM reads the section llm of the folder's config.yaml. The zero value is returned for a folder without one.
func ReadLLM(dir string) (LLM, error) {
	files, err := find(dir, Config{})
	if err != nil || files.settings == "" {
		return LLM{}, err
	}
	text, err := readFile(dir, files.settings, maxSettings)
	if err != nil {
		return LLM{}, err
	}
	var l LLM
	if err := l.parse(text); err != nil {
		return LLM{}, fmt.Errorf("%s: %w", files.settings, err)
	}
	return l, nil
}

// parse reads the section from the text of the settings.
func (l *LLM) parse(text string) error {
	root, err := document(text)
	if err != nil {
		return err
	}
	top, err := mappingOf("", root)
	if err != nil {
		return err
	}
	m, err := top.mapping("llm")
	if err != nil {
		return err
	}
	tokens := 0.0
	if err := cmp.Or(
		m.number("temperature", &l.Temperature, 0, 100),
		m.number("top_p", &l.TopP, 0, 1),
		m.number("max_tokens", &tokens, 1, 1<<30),
		m.text("reasoning_effort", &l.Effort),
		l.takeModels(m),
	); err != nil {
		return err
	}
	l.MaxTokens = int(tokens)
	taken := []string{"system_message", "temperature", "top_p", "max_tokens", "reasoning_effort", "models",
		"primary_model", "primary_model_weight", "secondary_model", "secondary_model_weight"}
	for _, name := range m.names {
		zero := name == "temperature" && l.Temperature == 0 || name == "top_p" && l.TopP == 0
		if !slices.Contains(taken, name) || zero && !null(target(m.values[name])) {
			l.Ignored = append(l.Ignored, m.path+name)
		}
	}
	return nil
}

// takeModels reads the list of models, and then the primary and the secondary one, with OpenEvolve's default weights.
func (l *LLM) takeModels(m *mapping) error {
	if n := target(m.values["models"]); !null(n) {
		for i := range n.Content {
			one, err := mappingOf(fmt.Sprintf("%smodels[%d].", m.path, i), n.Content[i])
			if err != nil {
				return err
			}
			if err := l.takeModel(one, "name", "weight", 1); err != nil {
				return err
			}
			for _, name := range one.names {
				if name != "name" && name != "weight" {
					l.Ignored = append(l.Ignored, one.path+name)
				}
			}
		}
	}
	return cmp.Or(
		l.takeModel(m, "primary_model", "primary_model_weight", 1),
		l.takeModel(m, "secondary_model", "secondary_model_weight", 0.2),
	)
}

// takeModel adds a model, unless its weight is 0.
func (l *LLM) takeModel(m *mapping, name, weight string, usual float64) error {
	w := weighted{Weight: usual}
	if err := cmp.Or(m.text(name, &w.Name), m.number(weight, &w.Weight, 0, 1e9)); err != nil {
		return err
	}
	if w.Name != "" && w.Weight > 0 {
		l.Models = append(l.Models, w)
	}
	return nil
}

package llm

import (
	"cmp"
	"fmt"
	"time"
)

// The defaults of a [Model] and the retries of [Retry], which are the BaSE paper's.
const (
	DefaultMaxTokens = 16000
	DefaultTimeout   = 900 * time.Second
	DefaultRetries   = 2
)

// A Model is a language model as the accountant and the adapters see it. It is a plain value, so models need no
// registration.
type Model struct {
	Key  string // short name for flags, paths and tables: "qwen3-8b"
	Name string // name at the endpoint: "Qwen/Qwen3-8B"
	// ActiveParams is the number of parameters that work on one token: of a mixture of experts not all.
	ActiveParams int64
	Temperature  float64       // 0 means the endpoint's own; for greedy decoding set Request.Temperature
	TopP         float64       // 0 means the endpoint's own
	MaxTokens    int           // 0 means DefaultMaxTokens
	Timeout      time.Duration // for one attempt; 0 means DefaultTimeout
	Price        *Price        // nil means unknown, which a budget in money refuses
}

// PaperSampling returns m with the sampling of the BaSE paper where m has none: temperature 0.4 and top-p 0.95.
func PaperSampling(m Model) Model {
	m.Temperature, m.TopP = cmp.Or(m.Temperature, 0.4), cmp.Or(m.TopP, 0.95)
	return m
}

// WithDefaults returns m with its zero fields filled in that have a default.
func (m Model) WithDefaults() Model {
	m.Name = cmp.Or(m.Name, m.Key)
	m.MaxTokens = cmp.Or(m.MaxTokens, DefaultMaxTokens)
	m.Timeout = cmp.Or(m.Timeout, DefaultTimeout)
	return m
}

// String returns the model and everything that its answers depend on.
func (m Model) String() string {
	m = m.WithDefaults()
	sampling := ""
	if m.Temperature != 0 {
		sampling += fmt.Sprintf(", temperature %g", m.Temperature)
	}
	if m.TopP != 0 {
		sampling += fmt.Sprintf(", top-p %g", m.TopP)
	}
	return fmt.Sprintf("%s(%s%s, max tokens %d)", cmp.Or(m.Key, m.Name), m.Name, sampling, m.MaxTokens)
}

// Models returns the models of the BaSE paper, whose parameter counts are those of the published
// weights. All three are dense: every parameter works on every token.
func Models() []Model {
	return []Model{
		{Key: "qwen3-8b", Name: "Qwen/Qwen3-8B", ActiveParams: 8_190_726_144},
		{Key: "qwen3-14b", Name: "Qwen/Qwen3-14B", ActiveParams: 14_768_296_960},
		{Key: "llama-8b", Name: "meta-llama/Meta-Llama-3.1-8B-Instruct", ActiveParams: 8_030_261_248},
	}
}

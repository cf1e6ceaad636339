//go:build soak

package presets

import (
	"context"
	"fmt"
	"math"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"gonum.org/v1/gonum/stat"
	"gonum.org/v1/gonum/stat/distuv"

	"github.com/evoalloc/evoalloc/eval/python"
	"github.com/evoalloc/evoalloc/evolve/population"
	"github.com/evoalloc/evoalloc/internal/notrun"
	"github.com/evoalloc/evoalloc/internal/stream"
	"github.com/evoalloc/evoalloc/llm"
	"github.com/evoalloc/evoalloc/task"
	"github.com/evoalloc/evoalloc/task/folder"
)

// bare is a task whose prompt is the parent alone, and a reply the program alone.
type bare struct{ task.Task }

func (bare) Prompt(ask task.Request) []llm.Message {
	return []llm.Message{{Role: llm.User, Content: ask.Parents[0].Program}}
}

func (bare) Parse(reply string) (string, error) { return reply, nil }

var aNumber = regexp.MustCompile(`\d+(?:\.\d+)?`)

// moveNumber is the model of testdata/parity/folders.py: it moves one number between the markers, if there are any.
func moveNumber(_ context.Context, req llm.Request) (llm.Reply, error) {
	program := req.Messages[0].Content
	start, end := strings.Index(program, "EVOLVE-BLOCK-START"), strings.Index(program, "EVOLVE-BLOCK-END")
	var found [][]int
	for _, at := range aNumber.FindAllStringIndex(program, -1) {
		word := at[0] > 0 && (program[at[0]-1] == '_' || program[at[0]-1] == '.' || 'a' <= program[at[0]-1]|0x20 &&
			program[at[0]-1]|0x20 <= 'z')
		if !word && (start < 0 || start < at[0] && at[0] < end) {
			found = append(found, at)
		}
	}
	r := stream.New(uint64(req.Seed), "moveNumber", 0)
	at := found[r.IntN(len(found))]
	text := program[at[0]:at[1]]
	x, err := strconv.ParseFloat(text, 64)
	if err != nil {
		return llm.Reply{}, err
	}
	x = math.Abs(x + r.NormFloat64()*max(0.1, 0.5*x))
	if strings.Contains(text, ".") {
		text = fmt.Sprintf("%.4f", x)
	} else {
		text = fmt.Sprintf("%.0f", x)
	}
	return llm.Reply{Text: program[:at[0]] + text + program[at[1]:], Attempts: []llm.Attempt{{Status: llm.OK}}}, nil
}

// On folders with an evaluator.py whole searches end where the systems' own do: means of five runs differ by less than
// 4.5 of their standard errors.
func TestFoldersEndAsTheirs(t *testing.T) {
	var record struct {
		Calls int `json:"calls"`
		Plays []struct {
			Folder string    `json:"folder"`
			Peer   string    `json:"peer"`
			Bests  []float64 `json:"bests"`
		} `json:"plays"`
	}
	recorded(t, "folders", &record)
	window := map[string]int{"openevolve": 5, "gepa": 1} // children under way, as there
	for _, play := range record.Plays {
		config := map[string]func(population.Config) population.Config{"openevolve": OpenEvolve, "gepa": GEPA}[play.Peer]
		f, err := folder.Load(t.Context(), filepath.Join("../../task/folder/testdata", play.Folder),
			folder.Config{Python: python.Config{Workers: 1}})
		if err != nil {
			t.Log(err) // no Python
			notrun.Skip(t)
		}
		var ours []float64
		for seed := range play.Bests {
			p, err := population.New(config(population.Config{Task: bare{f}, LLM: llm.Func(moveNumber), N: record.Calls,
				Seed: uint32(seed), Window: window[play.Peer]}))
			if err != nil {
				t.Fatal(err)
			}
			if _, err := p.Step(t.Context(), nil); err != nil {
				t.Fatal(err)
			}
			ours = append(ours, p.Best().Result.Score)
		}
		if err := f.Close(); err != nil {
			t.Error(err)
		}
		a, sa := stat.MeanStdDev(play.Bests, nil)
		b, sb := stat.MeanStdDev(ours, nil)
		n := float64(len(ours))
		se := math.Sqrt((sa*sa + sb*sb) / n)
		half := distuv.StudentsT{Nu: n - 1, Sigma: 1}.Quantile(0.975) / math.Sqrt(n)
		t.Logf("%s on %s: theirs %.4f ± %.4f, ours %.4f ± %.4f", play.Peer, play.Folder, a, half*sa, b, half*sb)
		if math.Abs(b-a) > 4.5*se {
			t.Errorf("%s on %s: runs end at %.4f, and theirs at %.4f", play.Peer, play.Folder, b, a)
		}
	}
}

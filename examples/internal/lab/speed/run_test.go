package speed

import (
	"context"
	"errors"
	"math"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/evoalloc/evoalloc/eval"
	"github.com/evoalloc/evoalloc/eval/python"
	"github.com/evoalloc/evoalloc/examples/internal/cli"
	"github.com/evoalloc/evoalloc/internal/notrun"
	"github.com/evoalloc/evoalloc/task"
)

// TestReplay goes through the recording with small arrays: says who wrote it, catches the step that is wrong, and ends
// with a function that is faster. Which one that is, and by how much, is for a quiet machine and larger arrays.
func TestReplay(t *testing.T) {
	if _, err := python.Find(t.Context(), "numpy"); err != nil {
		notrun.Say("examples/internal/lab/speed", "the recording", err, "install python3 and python3-numpy")
		notrun.Skip(t)
	}
	var out strings.Builder
	if err := Run(t.Context(), strings.Fields("--replay --size 300000 --pairs 3 --copies 2 --again 2 --hints"),
		&out); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"no model wrote them",
		`(?m)^2 copies of the first function: speed-up [0-9.]+, sd [0-9.]+$`,
		`invalid: answered wrongly: number 0 of 300000`, `(?m)^the same scale again: --scale [0-9.]+,[0-9.e-]+$`,
		`(?m)^on (8 fresh samples: z = |a fresh sample it is invalid: )`, `(?s)the best function, z = .*def f\(x, out\)`,
		`again 2: (invalid: |.* other copies)`} {
		if !regexp.MustCompile(want).MatchString(out.String()) {
			t.Errorf("%q is missing in %s", want, &out)
		}
	}
}

// What is said of the recording by scores that no clock decides: the scale, each child, the best function, its fresh samples
// and how far its scores lie apart. A function that is invalid when it is scored again says why.
func TestWhatIsSaid(t *testing.T) {
	var o options
	if err := o.parse(strings.Fields("--replay --copies 2 --again 3")); err != nil {
		t.Fatal(err)
	}
	model, err := o.ask()
	if err != nil {
		t.Fatal(err)
	}
	copies, blocks := 0, 0
	timed := eval.Func(func(_ context.Context, program string) (eval.Result, error) {
		score := 1.0
		switch {
		case program == initial:
			copies++
			score = 1 + float64(copies%2)/10
		case strings.Contains(program, "float32"):
			return eval.Invalid("answered wrongly"), nil
		case strings.Contains(program, "np.multiply(o, o, out=t)"):
			if blocks++; blocks > 10 { // the search's, 8 fresh samples, and the first of those scored again
				return eval.Invalid("gone"), nil
			}
			score = 3
		}
		return eval.Result{Valid: true, Score: score, Metrics: map[string]float64{"speedup": score}}, nil
	})
	var out strings.Builder
	if err := o.play(t.Context(), model, eval.Limit(timed, 1), nil, &out); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"2 copies of the first function: speed-up 1.0500, sd 0.0707\n",
		"the same scale again: --scale 1.05,0.0707", "invalid: answered wrongly\n",
		"z =   27.6, 3.000 times as fast\n", "the best function, z = 27.6, 3.00 times as fast:\n", "np.multiply(o, o, out=t)",
		"on 8 fresh samples: z = 27.6, sd 0.0\n",
		"again 1: 3.000 times as fast; z = 27.6, by the sd 0.0707 of 2 other copies 27.6\n", "again 2: invalid: gone\n"} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("%q is missing in %s", want, &out)
		}
	}
}

// The scores of a function that is scored again lie as far apart as is said.
func TestRepeat(t *testing.T) {
	o := options{copies: 2, again: 2}
	var n float64
	timed := eval.Func(func(context.Context, string) (eval.Result, error) {
		n++
		return eval.Result{Valid: true, Score: n}, nil
	})
	var out strings.Builder
	// Copies score 1 and 2, and the function 3; then 4 and 5, and 6.
	if err := o.repeat(t.Context(), eval.Limit(timed, 1), "f", &eval.Scale{Of: timed, Mean: 1, SD: 1}, &out); err != nil {
		t.Fatal(err)
	}
	if want := "from the lowest to the highest: 86 % on one scale, 0 % with a scale each\n"; !strings.HasSuffix(out.String(), want) {
		t.Errorf("%s, want %s at its end", &out, want)
	}
}

func TestBadInput(t *testing.T) {
	t.Setenv("LLM_API_BASE", "nowhere")
	for _, args := range []string{"", "--replay --model m", "--replay --api-base http://a/v1", "--replay --copies 1",
		"--replay --size 0",
		"--replay --seed 4294967296", "--replay --cores 0", "--replay --tune 9", "--replay --tune -1", "--replay --T 0",
		"--replay --scale 1", "--replay --scale 1,0", "--replay --scale NaN,1", "--model m", "--replay more"} {
		var usage *cli.UsageError
		if err := Run(t.Context(), strings.Fields(args), &strings.Builder{}); !errors.As(err, &usage) {
			t.Errorf("%s: %v, want a usage error", args, err)
		}
	}
	t.Setenv("PATH", t.TempDir())
	if _, err := python.Find(t.Context(), "numpy"); err == nil {
		t.Skip("Python with NumPy is found without a PATH")
	}
	if err := Run(t.Context(), []string{"--replay"}, &strings.Builder{}); err == nil ||
		!strings.Contains(err.Error(), "needs Python with NumPy") {
		t.Errorf("without Python: %v", err)
	}
}

// On several processors the recording ends with a function in threads, and what is tuned is the size of its blocks.
func TestCores(t *testing.T) {
	var o options
	if err := o.parse(strings.Fields("--replay --cores 2 --copies 2 --tune 40")); err != nil {
		t.Fatal(err)
	}
	model, err := o.ask()
	if err != nil {
		t.Fatal(err)
	}
	block := regexp.MustCompile(`BLOCK = (\d+)`)
	copies := 0
	timed := eval.Func(func(_ context.Context, program string) (eval.Result, error) {
		copies++
		score := 1 + float64(copies%2)/100
		if m := block.FindStringSubmatch(program); m != nil {
			n, err := strconv.Atoi(m[1])
			if err != nil || n < 1 {
				return eval.Invalid("no such block"), nil
			}
			score += 1 / (1 + math.Abs(math.Log(float64(n)/65536))) // the best block has 65536 numbers
		}
		if strings.Contains(program, "ThreadPoolExecutor") {
			score *= 2
		}
		return eval.Result{Valid: true, Score: score, Metrics: map[string]float64{"speedup": score, "strangers": 0.25}}, nil
	})
	var out strings.Builder
	if err := o.play(t.Context(), model, eval.Limit(timed, 1), eval.Limit(timed, 1), &out); err != nil {
		t.Fatal(err)
	}
	found, tuned, ok := strings.Cut(out.String(), "functions were timed to tune numbers\n")
	if !ok || !strings.Contains(found, "ThreadPoolExecutor(CORES)") || !strings.Contains(found, "BLOCK = 8192") {
		t.Fatalf("the search found %s", found)
	}
	if !strings.Contains(found, "other processes used 25 % of the processors") {
		t.Errorf("other processes are not mentioned in %s", found)
	}
	m := block.FindStringSubmatch(tuned)
	if m == nil {
		t.Fatalf("tuning found %s", tuned)
	}
	if n, err := strconv.Atoi(m[1]); err != nil || n <= 8192 || !strings.Contains(tuned, "ThreadPoolExecutor(CORES)") {
		t.Errorf("tuning found %s", tuned)
	}
}

// On one processor the recording ends without threads, and the model is told of one processor.
func TestOneCore(t *testing.T) {
	for cores, want := range map[string][2]string{
		"1": {"some million numbers on one processor, the better. Use nothing but NumPy.", "no"},
		"3": {"some million numbers on 3 processors, the better, by the time that passes. Use nothing but NumPy and threads.",
			"threads"},
	} {
		var o options
		if err := o.parse([]string{"--replay", "--cores", cores}); err != nil {
			t.Fatal(err)
		}
		numpy, err := o.task(initial, eval.Func(nil))
		if err != nil {
			t.Fatal(err)
		}
		prompt := numpy.Prompt(task.Ask{Parents: []eval.Candidate{{Program: initial}}})
		if text := prompt[0].Content; !strings.Contains(text, want[0]) {
			t.Errorf("with %s processors the prompt says %s", cores, text)
		}
		model, err := o.ask()
		if err != nil {
			t.Fatal(err)
		}
		texts := model.(*replies).texts
		if last := strings.Contains(texts[len(texts)-1], "ThreadPoolExecutor"); last != (want[1] == "threads") ||
			len(texts) != o.rounds {
			t.Errorf("with %s processors the last of %d replies is %s", cores, len(texts), texts[len(texts)-1])
		}
	}
}

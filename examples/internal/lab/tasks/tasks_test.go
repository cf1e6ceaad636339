package tasks

import (
	"context"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/evoalloc/evoalloc/llm"
	"github.com/evoalloc/evoalloc/task"
)

// newOf returns one of the tasks whose programs are data, and its stand-in.
func newOf(t *testing.T, key string) (task.Task, llm.LLM) {
	t.Helper()
	for _, k := range All() {
		if k.Key == key {
			of, model, err := k.Make()
			if err != nil {
				t.Fatal(err)
			}
			return of, model
		}
	}
	t.Fatalf("no task %s", key)
	return nil, nil
}

// score returns the score of a program, and false if it is invalid.
func score(t *testing.T, of task.Task, program string) (float64, bool) {
	t.Helper()
	r, err := of.Evaluate(t.Context(), program)
	if err != nil {
		t.Fatal(err)
	}
	return r.Score, r.Valid
}

// Programs that are no candidates are invalid, and no error.
func TestInvalidPrograms(t *testing.T) {
	for key, programs := range map[string][]string{
		"nk":   {"", "01", strings.Repeat("0", 95) + "2", strings.Repeat("0", 97)},
		"labs": {strings.Repeat("0", 96), "I cannot improve this."},
		"tsp":  {"", "[]", list(make([]int, tspCities)), list([]int{1, 2, 3}), "[0.5]", "{}"},
		"fit": {"[1, 2]", "no", list([]float64{1, 1, 0, 0, 4, 0, 0, 6, 0, 0, 8, 0}[:11]),
			"[1e308,5,1e300,1e308,5,1e300,1e308,5,1e300,1e308,5,1e300]"},
	} {
		of, _ := newOf(t, key)
		for _, program := range programs {
			if got, valid := score(t, of, program); valid {
				t.Errorf("%s: %q scores %v", key, program, got)
			}
		}
		if got, valid := score(t, of, of.Initial()); !valid || math.Abs(got) > 1 {
			t.Errorf("%s: the initial program scores %v, valid %v", key, got, valid)
		}
	}
}

// The Barker sequence of length 13 has the sidelobes 0 and 1 alone: energy 6. All equal bits of length n have the
// energy 1² + 2² + ... + (n−1)².
func TestAutocorrelation(t *testing.T) {
	if got := autocorrelation("1111100110101"); got != labsLeast/6. {
		t.Errorf("Barker's sequence scores %v, want %v", got, labsLeast/6.)
	}
	if got := autocorrelation("0000"); got != labsLeast/14. {
		t.Errorf("four equal bits score %v, want %v", got, labsLeast/14.)
	}
}

// A bit changes its own contribution and those of the bits that look at it, and nothing else.
func TestLandscape(t *testing.T) {
	l := newLandscape()
	bits := []byte(strings.Repeat("01", nkBits/2))
	before := l.score(string(bits))
	if before <= 0.3 || before >= 0.7 {
		t.Errorf("a string scores %v: want about 0.5, the mean of uniform numbers", before)
	}
	for flipped := range nkBits {
		looking := 1
		for i := range nkBits {
			for _, j := range l.others[i] {
				if j == i {
					t.Fatalf("bit %d looks at itself", i)
				}
				if j == flipped {
					looking++
				}
			}
		}
		bits[flipped] ^= 1
		after := l.score(string(bits))
		bits[flipped] ^= 1
		if after == before || math.Abs(after-before) > float64(looking)/nkBits {
			t.Errorf("bit %d: from %v to %v, though %d of %d terms changed", flipped, before, after, looking, nkBits)
		}
	}
}

// A tour scores the same from wherever it begins and whichever way it goes, and the curve's own bumps fit it but for
// the noise: 0.03² of a variance of about 0.5.
func TestKnownScores(t *testing.T) {
	of, _ := newOf(t, "tsp")
	forth, from, back := make([]int, tspCities), make([]int, tspCities), make([]int, tspCities)
	for i := range forth {
		forth[i], from[i], back[i] = i, (i+7)%tspCities, tspCities-1-i
	}
	want, _ := score(t, of, list(forth))
	for _, tour := range [][]int{from, back} {
		if got, valid := score(t, of, list(tour)); !valid || math.Abs(got-want) > 1e-12 {
			t.Errorf("%v scores %v, want %v", tour, got, want)
		}
	}
	of, _ = newOf(t, "fit")
	if got, valid := score(t, of, "[1.5,1.7,0.5,-0.8,3.1,1.2,2.1,5.2,0.9,1.1,6.6,0.35]"); !valid || got < 0.995 ||
		got >= 1 {
		t.Errorf("the bumps of the curve score %v, want a little less than 1", got)
	}
}

// A stand-in answers equal requests alike, mostly with another valid program, and as often as it says with none.
func TestStandIns(t *testing.T) {
	for _, key := range []string{"nk", "labs", "tsp", "fit"} {
		of, model := newOf(t, key)
		messages := of.Prompt(task.Ask{})
		const calls = 400
		programs := map[string]bool{}
		without := 0
		for seed := range uint32(calls) {
			reply := ask(t, model, llm.Request{Messages: messages, Seed: seed})
			if again := ask(t, model, llm.Request{Messages: messages, Seed: seed}); again != reply {
				t.Fatalf("%s: seed %d is answered %q and %q", key, seed, reply, again)
			}
			program, err := of.Parse(reply)
			if err != nil {
				t.Fatal(err)
			}
			if _, valid := score(t, of, program); !valid {
				without++
				continue
			}
			programs[program] = true
		}
		if without < 5 || without > 40 || len(programs) < 60 {
			t.Errorf("%s: %d of %d replies without a program, want about %v; %d different programs", key, without, calls,
				calls*failing, len(programs))
		}
	}
}

func ask(t *testing.T, model llm.LLM, req llm.Request) string {
	t.Helper()
	reply, err := model.Generate(t.Context(), req)
	if err != nil || len(reply.Attempts) != 1 || reply.Attempts[0].Status != llm.OK {
		t.Fatalf("%+v, %v", reply, err)
	}
	return reply.Text
}

// What a stand-in is asked after the context ended is not answered, and costs nothing.
func TestStandInStopped(t *testing.T) {
	of, model := newOf(t, "tsp")
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if reply, err := model.Generate(ctx, llm.Request{Messages: of.Prompt(task.Ask{})}); err == nil ||
		len(reply.Attempts) > 0 {
		t.Errorf("%+v, %v", reply, err)
	}
}

// Half of all changes are one, a quarter two: the mean is just below 2.
func TestSeveral(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	sum := 0
	for range 10000 {
		n := several(r, 8)
		if n < 1 || n > 8 {
			t.Fatalf("%d changes of at most 8", n)
		}
		sum += n
	}
	if mean := float64(sum) / 10000; math.Abs(mean-1.992) > 0.06 { // four standard errors
		t.Errorf("%v changes on average", mean)
	}
}

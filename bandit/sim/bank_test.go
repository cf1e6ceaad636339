package sim

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/evoalloc/evoalloc/bandit"
)

// recorded is the bank of circle packings with N=1 that is made by
//
//	go run ./examples/evoalloc bank --task cp --N 1 --T 256 --searches 24 --out bandit/sim/testdata/cp-N1.json
const recorded = "testdata/cp-N1.json"

func readRecordedBank(t testing.TB) *Bank {
	t.Helper()
	b, err := ReadBankFile(recorded)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// A policy over recorded searches ends between the start and the best search of the run, and one that plays all of
// them to the end finds the bank's best.
func TestPlayOverBank(t *testing.T) {
	b := readRecordedBank(t)
	if b.Task != "cp" || b.N != 1 || len(b.Searches) != 24 || b.Made == "" {
		t.Fatalf("%s has %d searches of %s with N=%d, made by %q", recorded, len(b.Searches), b.Task, b.N, b.Made)
	}
	for seed := range uint64(20) {
		arms := Arms(b, seed, 10, 1, 256)
		played, err := Play(&bandit.UCB1{}, arms, PlayConfig{Rounds: 256, Seed: seed})
		if err != nil {
			t.Fatal(err)
		}
		best, most := played.Best[256], Oracle(arms, 256)[256]
		if len(played.Selections) != 256 || best <= arms[0][0] || best > most {
			t.Errorf("seed %d: %d pulls from %v to %v, where one search alone comes to %v", seed, len(played.Selections),
				arms[0][0], best, most)
		}
	}
	top := 0.0
	for _, s := range b.Searches {
		top = max(top, s.Final())
	}
	all := Arms(b, 1, 24, 1, 256)
	played, err := Play(bandit.Random{}, all, PlayConfig{Rounds: 24*256 + 10})
	if err != nil {
		t.Fatal(err)
	}
	if n := len(played.Selections); n != 24*256 || played.Best[n] != top {
		t.Errorf("%d pulls to %v: want all of the searches', to %v", n, played.Best[n], top)
	}
}

// The arms of a run are different searches; runs of other seeds have them in another order, and every search
// has its turn.
func TestBankDealsOut(t *testing.T) {
	b := readRecordedBank(t)
	met := map[float64]bool{}
	for seed := range uint64(50) {
		of := map[float64]bool{} // final scores, which differ between the searches
		for i := range 10 {
			arm := b.Arm(Address{Seed: seed, Index: i, N: 1, Rounds: 256})
			if again := b.Arm(Address{Seed: seed, Index: i, Rounds: 256}); !slices.Equal(arm, again) {
				t.Fatalf("seed %d, arm %d: two searches at one address", seed, i)
			}
			if short := b.Arm(Address{Seed: seed, Index: i, N: 1, Rounds: 40}); !slices.Equal(short, arm[:41]) {
				t.Fatalf("seed %d, arm %d: 40 rounds are not the first of 256", seed, i)
			}
			of[arm[256]], met[arm[256]] = true, true
		}
		if len(of) != 10 {
			t.Errorf("seed %d: %d different searches of 10", seed, len(of))
		}
	}
	if len(met) != 24 {
		t.Errorf("%d of 24 searches met in 50 runs", len(met))
	}
}

func TestBankCheck(t *testing.T) {
	b := readRecordedBank(t)
	for _, tt := range []struct {
		why  string
		k, n int
		want string // "" for no error
	}{
		{"all searches", 24, 1, ""},
		{"0 means 1, as in an Address", 1, 0, ""},
		{"one arm more than searches", 25, 1, "25 arms: it has 24"},
		{"no arm", 0, 1, "0 arms"},
		{"other generations than were recorded", 1, 64, "at N=64: its searches were made with N=1"},
	} {
		err := b.Check(tt.k, tt.n)
		if (err == nil) != (tt.want == "") || err != nil && !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: %v, want %q", tt.why, err, tt.want)
		}
		panicked := func() (p any) {
			defer func() { p = recover() }()
			b.Arm(Address{Index: tt.k - 1, N: tt.n, Rounds: 5})
			return nil
		}()
		if (panicked == nil) != (tt.want == "") {
			t.Errorf("%s: Arm panics with %v", tt.why, panicked)
		}
	}
}

// What is recorded comes back, up to the end of the search.
func TestRecord(t *testing.T) {
	best := []float64{-2, -2, 1e-6, 1e-6, 5, 5}
	r := Record(7, best)
	if want := (Recorded{7, 5, Course{{0, -2}, {2, 1e-6}, {4, 5}}}); !reflect.DeepEqual(r, want) {
		t.Errorf("recorded %v, want %v", r, want)
	}
	for generations := range 9 {
		if got, want := r.Best(generations), best[:min(generations+1, 6)]; !slices.Equal(got, want) {
			t.Errorf("best in %d generations: %v, want %v", generations, got, want)
		}
	}
}

// Scores are written in as many digits as give them back.
func TestBankWrite(t *testing.T) {
	b := &Bank{Task: "a \"b\"\n", N: 64, Made: "<by hand>", Searches: []Recorded{
		Record(math.MaxUint64, []float64{-1e300, math.Nextafter(0.1, 0), 0.1, 1e21}), Record(0, []float64{5e-324})}}
	var text bytes.Buffer
	if err := b.Write(&text); err != nil {
		t.Fatal(err)
	}
	if got, err := readBank(&text); err != nil || !reflect.DeepEqual(got, b) {
		t.Errorf("written %v\nread %v, %v", b, got, err)
	}
	for _, wrong := range []*Bank{{}, {Task: "cp", N: 1}, {Task: "cp", Searches: b.Searches},
		{Task: "cp", N: 1, Searches: []Recorded{Record(1, []float64{math.NaN()})}}} {
		if err := wrong.Write(&text); err == nil || text.Len() > 0 {
			t.Errorf("%+v is written: %v, %s", wrong, err, &text)
		}
	}
}

// wrongBanks are the searches of banks that are not read, and what is said of them.
var wrongBanks = []struct{ why, text, want string }{
	{"nothing", ``, "it is empty"},
	{"a file cut short", `{"version": 1, "task": "cp"`, "unexpected EOF"},
	{"two banks", bankOf(`{"seed":1,"generations":1,"rises":[[0,1]]}`) + "{}", "there is more"},
	{"an unknown field", `{"version": 1, "tasks": "cp"}`, `"tasks"`},
	{"no version", `{"task": "cp", "n": 1, "searches": []}`, "its version is missing: need 1"},
	{"a later format", `{"version": 2}`, "its version is 2: need 1"},
	{"no n", `{"version": 1, "task": "cp", "searches": []}`, "n is missing"},
	{"no child", `{"version": 1, "task": "cp", "n": 0, "searches": []}`, "n is 0"},
	{"no task", `{"version": 1, "n": 1, "searches": []}`, "no task"},
	{"no search", bankOf(``), "no searches"},
	{"no seed", bankOf(`{"generations":1,"rises":[[0,1]]}`), "search 0: seed is missing"},
	{"no length", bankOf(`{"seed":4,"rises":[[0,1]]}`), "search 0: generations is missing"},
	{"a negative length", bankOf(`{"seed":4,"generations":-1,"rises":[[0,1]]}`), "search 0 of seed 4: generations is -1"},
	{"an unknown field of a search", bankOf(`{"seed":1,"generations":1,"rises":[[0,1]]},{"scores":[]}`),
		`search 1: json: unknown field "scores"`},
	{"the same search twice", bankOf(`{"seed":9,"generations":1,"rises":[[0,1]]},{"seed":9,"generations":1,"rises":[[0,1]]}`), "searches 0 and 1 have the same seed, 9"},
	{"no start", bankOf(`{"seed":4,"generations":3,"rises":[]}`), "no rises"},
	{"a late start", bankOf(`{"seed":4,"generations":3,"rises":[[1,0.5]]}`), "first rise is in generation 1"},
	{"a rise after the end", bankOf(`{"seed":4,"generations":3,"rises":[[0,0.5],[4,0.6]]}`), "generation 4 of 3"},
	{"rises out of order", bankOf(`{"seed":4,"generations":3,"rises":[[0,0.5],[2,0.6],[2,0.7]]}`),
		"rise 2 is in generation 2, after one in 2"},
	{"a fall", bankOf(`{"seed":4,"generations":3,"rises":[[0,0.5],[1,0.6],[2,0.4]]}`),
		"search 0 of seed 4: rise 2 is to 0.4, from 0.6"},
	{"no rise at all", bankOf(`{"seed":4,"generations":3,"rises":[[0,0.5],[1,0.5]]}`), "rise 1 is to 0.5, from 0.5"},
	{"a score that is no number", bankOf(`{"seed":4,"generations":3,"rises":[[0,"high"]]}`), "cannot unmarshal string"},
	{"a score beyond all numbers", bankOf(`{"seed":4,"generations":3,"rises":[[0,1e999]]}`), "1e999"},
	{"a missing score", bankOf(`{"seed":4,"generations":3,"rises":[[0,0.5],[1]]}`), "rise 1 is no pair"},
	{"null for a score", bankOf(`{"seed":4,"generations":3,"rises":[[0,null]]}`), "rise 0 is no pair"},
	{"three numbers", bankOf(`{"seed":4,"generations":3,"rises":[[0,1,2]]}`), "rise 0 is no pair"},
	{"half a generation", bankOf(`{"seed":4,"generations":3,"rises":[[0,0.5],[1.5,0.6]]}`), "rise 1 is in generation 1.5"},
}

func bankOf(searches string) string {
	return fmt.Sprintf(`{"version": 1, "task": "cp", "n": 1, "made": "", "searches": [%s]}`, searches)
}

// Errors name the file, the search and the value.
func TestReadBankWrong(t *testing.T) {
	path := filepath.Join(t.TempDir(), "bank.json")
	for _, tt := range wrongBanks {
		if err := os.WriteFile(path, []byte(tt.text), 0o666); err != nil {
			t.Fatal(err)
		}
		b, err := ReadBankFile(path)
		if err == nil || b != nil || !strings.HasPrefix(err.Error(), "sim: bank "+path+": ") ||
			!strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: %v, %v, want %q", tt.why, b, err, tt.want)
		}
	}
	if _, err := ReadBankFile(filepath.Join(t.TempDir(), "none")); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a file that is not there: %v", err)
	}
}

// Whatever is read is written and read as the same, and its arms rise up to their end.
func FuzzReadBank(f *testing.F) {
	for _, tt := range wrongBanks {
		f.Add([]byte(tt.text))
	}
	f.Add([]byte(bankOf(`{"seed":4,"generations":3,"rises":[[0,-0.5],[2,1e-6]]},{"seed":5,"generations":0,"rises":[[0,3]]}`)))
	f.Fuzz(func(t *testing.T, text []byte) {
		b, err := readBank(bytes.NewReader(text))
		if err != nil {
			return
		}
		var out bytes.Buffer
		if err := b.Write(&out); err != nil {
			t.Fatalf("read %+v, and not written: %v", b, err)
		}
		if again, err := readBank(&out); err != nil || !reflect.DeepEqual(again, b) {
			t.Fatalf("read %+v, written and read %+v, %v", b, again, err)
		}
		for i, arm := range Arms(b, 1, len(b.Searches), b.N, 20) {
			if len(arm) == 0 || len(arm) > 21 || !slices.IsSorted(arm) ||
				slices.ContainsFunc(arm, func(v float64) bool { return math.IsNaN(v) || math.IsInf(v, 0) }) {
				t.Fatalf("arm %d of %+v is %v", i, b, arm)
			}
		}
	})
}

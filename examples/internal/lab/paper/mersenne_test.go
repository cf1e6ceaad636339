package paper

import (
	"compress/gzip"
	"encoding/json"
	"math/big"
	"os"
	"strconv"
	"testing"
)

// readGolden decodes a gzipped JSON file of testdata.
func readGolden(t *testing.T, name string, v any) {
	t.Helper()
	f, err := os.Open("testdata/" + name)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	z, err := gzip.NewReader(f)
	if err != nil {
		t.Fatal(err)
	}
	if err := json.NewDecoder(z).Decode(v); err != nil {
		t.Fatal(err)
	}
}

// pythonStream is what CPython 3.11 drew from random.Random(seed), each list from a fresh generator.
type pythonStream struct {
	Seed    string           `json:"seed"`
	Random  []float64        `json:"random"`
	Normal  []float64        `json:"gauss_mu0.5_sigma0.1"`
	Normal0 []float64        `json:"gauss_0_1"`
	Bits32  []uint32         `json:"getrandbits32"`
	Range   map[string][]int `json:"randrange"`
	Mixed   []float64        `json:"mixed_random_gauss_random_gauss_gauss_randrange10_gauss"`
}

func pythonStreams(t *testing.T) []pythonStream {
	var file struct {
		Streams []pythonStream `json:"streams"`
	}
	readGolden(t, "python_random.json.gz", &file)
	if len(file.Streams) < 10 {
		t.Fatalf("%d streams in the file", len(file.Streams))
	}
	return file.Streams
}

func (s pythonStream) fresh(t *testing.T) *Random {
	seed, ok := new(big.Int).SetString(s.Seed, 10)
	if !ok {
		t.Fatalf("seed %q", s.Seed)
	}
	return NewRandomBig(seed)
}

func same[T comparable](t *testing.T, what string, got func() T, want []T) {
	t.Helper()
	if len(want) == 0 {
		t.Fatalf("%s: nothing to compare with", what)
	}
	for i, w := range want {
		if g := got(); g != w {
			t.Fatalf("%s: draw %d is %v, Python's is %v", what, i, g, w)
		}
	}
}

func TestStreamsOfPython(t *testing.T) {
	for _, s := range pythonStreams(t) {
		same(t, s.Seed+" random", s.fresh(t).Float64, s.Random)
		same(t, s.Seed+" getrandbits", s.fresh(t).Uint32, s.Bits32)
		r := s.fresh(t)
		same(t, s.Seed+" gauss", func() float64 { return r.Normal(0.5, 0.1) }, s.Normal)
		r = s.fresh(t)
		same(t, s.Seed+" gauss(0, 1)", func() float64 { return r.Normal(0, 1) }, s.Normal0)
		for n, want := range s.Range {
			width, err := strconv.Atoi(n)
			if err != nil {
				t.Fatal(err)
			}
			r := s.fresh(t)
			same(t, s.Seed+" randrange "+n, func() int { return r.IntN(width) }, want)
		}
		mixed := mixedDraws(s.fresh(t))
		same(t, s.Seed+" mixed", func() float64 { v := mixed[0]; mixed = mixed[1:]; return v }, s.Mixed)
	}
}

// mixedDraws draws from all distributions in turn, so that the kept half of a pair is seen to outlive
// other draws.
func mixedDraws(r *Random) []float64 {
	return []float64{r.Float64(), r.Normal(0, 1), r.Float64(), r.Normal(0, 1), r.Normal(0, 1), float64(r.IntN(10)),
		r.Normal(0, 1)}
}

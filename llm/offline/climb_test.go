package offline

import (
	"context"
	"fmt"
	"math"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/evoalloc/evoalloc/internal/fence"
	"github.com/evoalloc/evoalloc/internal/lex"
	"github.com/evoalloc/evoalloc/llm"
)

// points reads the pairs of a program's list, which stands in for running it.
func points(program string) [][2]float64 {
	var out [][2]float64
	for _, m := range pair.FindAllStringSubmatch(program, -1) {
		x, _ := strconv.ParseFloat(m[1], 64)
		y, _ := strconv.ParseFloat(m[2], 64)
		out = append(out, [2]float64{x, y})
	}
	return out
}

var pair = regexp.MustCompile(`\[(-?[0-9.e-]+), (-?[0-9.e-]+)\]`)

// minmax is (smallest distance / largest distance)² of 16 points in the plane, by the best known.
func minmax(program string) float64 {
	p := points(program)
	lo, hi := math.Inf(1), 0.0
	for i := range p {
		for j := range i {
			d := math.Hypot(p[i][0]-p[j][0], p[i][1]-p[j][1])
			lo, hi = min(lo, d), max(hi, d)
		}
	}
	if len(p) != 16 || hi == 0 {
		return -1
	}
	return lo / hi * lo / hi * 12.889266112
}

// heilbronn is the smallest triangle of 11 points in the unit equilateral triangle, by the best known.
func heilbronn(program string) float64 {
	p := points(program)
	if len(p) != 11 {
		return -1
	}
	least, h := math.Inf(1), math.Sqrt(3)/2
	for i := range p {
		if y := p[i][1]; y < -1e-6 || y > math.Sqrt(3)*p[i][0]+1e-6 || y > math.Sqrt(3)*(1-p[i][0])+1e-6 {
			return -1
		}
		for j := range i {
			for k := range j {
				a, b, c := p[i], p[j], p[k]
				least = min(least, math.Abs((b[0]-a[0])*(c[1]-a[1])-(c[0]-a[0])*(b[1]-a[1]))/2)
			}
		}
	}
	return least / (h / 2) / 0.036529889880030156
}

// rings packs 26 circles as a program with the constants of src would: one in the middle, two rings,
// radii shrunk pairwise.
func rings(src string) float64 {
	var v []float64
	for _, l := range lex.JavaScript.Literals(src) {
		v = append(v, l.Value)
	}
	if len(v) != 10 || v[2] < 0 || v[4] < 0 || v[2]+v[4] > 25 {
		return -1
	}
	c := make([][2]float64, 0, 26)
	c = append(c, [2]float64{v[0], v[1]})
	for ring := range 2 {
		n, radius := v[2+2*ring], v[3+2*ring]
		for i := range int(n) {
			a := v[6+ring] + 2*math.Pi*float64(i)/n
			c = append(c, [2]float64{v[0] + radius*math.Cos(a), v[1] + radius*math.Sin(a)})
		}
	}
	for len(c) < 26 {
		c = append(c, [2]float64{})
	}
	sum := 0.0
	r := make([]float64, 26)
	for i := range c {
		for k := range 2 {
			c[i][k] = min(max(c[i][k], v[8]), v[9])
		}
		r[i] = min(c[i][0], c[i][1], 1-c[i][0], 1-c[i][1])
	}
	for i := range c {
		for j := range i {
			if d := math.Hypot(c[i][0]-c[j][0], c[i][1]-c[j][1]); r[i]+r[j] > d {
				scale := d / (r[i] + r[j])
				r[i], r[j] = r[i]*scale, r[j]*scale
			}
		}
	}
	for _, x := range r {
		if x < 0 {
			return -1
		}
		sum += x
	}
	return sum / 2.635
}

const ringsProgram = `function pack() { // 26 circles
  const x = 0.5, y = 0.5;
  const inner = {n: 8, radius: 0.3}, outer = {n: 16, radius: 0.7};
  const turn = [0.0, 0.0];
  return place(x, y, inner, outer, turn, 0.01, 0.99);
}`

func list(n int, at func(i int) string) string {
	var b strings.Builder
	b.WriteString("// point 0 to 15\nfunction points1() {\n  return [\n")
	for i := range n {
		fmt.Fprintf(&b, "    [%s],\n", at(i))
	}
	return b.String() + "  ];\n}\n"
}

// climb runs a greedy search of generations with n children each and returns the best score.
func climb(t *testing.T, start string, score func(string) float64, generations, n int, seed uint32) float64 {
	m, err := New(Config{})
	if err != nil {
		t.Fatal(err)
	}
	best, value := start, score(start)
	for g := range generations {
		parent := best
		for i := range n {
			req := llm.Request{Seed: seed<<20 + uint32(g)<<10 + uint32(i), Messages: []llm.Message{
				{Role: llm.User, Content: "Improve:\n\n" + fence.Wrap(parent, "javascript") + "\n"}}}
			reply, err := m.Generate(context.Background(), req)
			if err != nil {
				t.Fatal(err)
			}
			for b := range fence.Blocks(reply.Text) {
				if v := score(b.Text()); v > value {
					best, value = b.Text(), v
				}
			}
		}
	}
	return value
}

func TestClimb(t *testing.T) {
	zeros := list(11, func(int) string { return "0, 0" })
	zeros = strings.Replace(zeros, "15", "10", 1)
	spots := list(16, func(i int) string {
		return fmt.Sprintf("%.6f, %.6f", math.Sin(float64(i*i)), math.Cos(float64(3*i*i)))
	})
	tests := []struct {
		name, start string
		score       func(string) float64
		want        float64
		reason      string
	}{
		{"rings", ringsProgram, rings, 0.6, "few literals, some of them counts"},
		{"min/max distance", spots, minmax, 0.1, "a list of numbers"},
		{"Heilbronn", zeros, heilbronn, 0.001, "a list of zeros, which no small step leaves"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			for seed := range uint32(5) {
				begin, end := tt.score(tt.start), climb(t, tt.start, tt.score, 8, 64, 40+seed)
				t.Logf("from %.4f to %.4f", begin, end)
				if begin < 0 || end < tt.want {
					t.Errorf("from %.4f to %.4f, want %.4f: %s", begin, end, tt.want, tt.reason)
				}
			}
		})
	}
}

package tree_test

import (
	"go/format"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// A fault stands in several files of a module that others wrote.
type fault struct {
	name, module string
	copied       []string // folders of the module, of whose Go files the base is made
	spots        []spot
	check        string // statements that call point(weight, func() bool) for what is right
	whole        float64
	kind         string // what a repair of one file gains
}

// A spot is where a fault is planted: in a file, that has right in place of wrong, or an attempt that is wrong too.
type spot struct{ file, right, planted, wrong string }

const copies = "for range 40 {\n\t\ts = string(append([]byte{}, s...))\n\t}\n\t"

// faults are what is planted. Two of them bend both ends of something, so that one repair alone is worse than none.
var faults = []fault{
	{name: "three slips", module: "golang.org/x/sync", copied: []string{"errgroup", "semaphore", "singleflight"},
		kind: "a gain", whole: 5,
		spots: []spot{
			{"errgroup/errgroup.go", "g.err = err\n", "_ = err\n", "g.err = nil\n"},
			{"semaphore/semaphore.go", "success := s.size-s.cur >= n", "success := s.size-s.cur > n", "success := s.size >= n"},
			{"singleflight/singleflight.go", "delete(g.m, key)", "_ = key", "delete(g.m, key+key)"},
		},
		check: `point(2, func() bool { var g errgroup.Group; g.Go(func() error { return nil }); return g.Wait() == nil })
	point(1, func() bool { var g errgroup.Group; g.Go(func() error { return errors.New("x") }); return g.Wait() != nil })
	point(1, func() bool { s := semaphore.NewWeighted(2); return s.TryAcquire(2) && !s.TryAcquire(1) })
	point(1, func() bool {
		var g singleflight.Group
		n := 0
		for range 2 {
			g.Do("k", func() (any, error) { n++; return n, nil })
		}
		return n == 2
	})`},
	{name: "halves of a time swapped", module: "github.com/google/uuid", copied: []string{"."}, kind: "a loss", whole: 5,
		spots: []spot{
			{"version1.go", "PutUint16(uuid[4:], timeMid)", "PutUint16(uuid[4:], timeMid^0xffff)",
				"PutUint16(uuid[4:], timeMid+1)"},
			{"time.go", "time |= int64(binary.BigEndian.Uint16(uuid[4:6])) << 32",
				"time |= int64(binary.BigEndian.Uint16(uuid[4:6])^0xffff) << 32",
				"time |= int64(binary.BigEndian.Uint16(uuid[4:6])-1) << 32"},
		},
		check: `id := uuid.Must(uuid.NewUUID())
	point(4, func() bool { s, _ := id.Time().UnixTime(); d := time.Now().Unix() - s; return d >= 0 && d < 60 })
	point(1, func() bool {
		s := (int64(binary.BigEndian.Uint32(id[0:4])) | int64(binary.BigEndian.Uint16(id[4:6]))<<32 | int64(binary.BigEndian.Uint16(id[6:8])&0xfff)<<48) / 10_000_000
		d := time.Now().Unix() - (s - 12219292800)
		return d >= 0 && d < 60
	})`},
	{name: "a sum with two signs", module: "gonum.org/v1/gonum",
		copied: []string{"floats", "floats/scalar", "internal/asm/f64"}, kind: "a loss", whole: 5,
		spots: []spot{
			{"internal/asm/f64/stubs_noasm.go", "\tvar sum float64\n\tfor _, v := range x {\n\t\tsum += v\n\t}\n\treturn sum",
				"\tvar sum float64\n\tfor _, v := range x {\n\t\tsum -= v\n\t}\n\treturn sum",
				"\tvar sum float64\n\tfor _, v := range x {\n\t\tsum = v\n\t}\n\treturn sum"},
			{"floats/floats.go", "\treturn f64.Sum(s)", "\treturn -f64.Sum(s)", "\treturn 2 * f64.Sum(s)"},
		},
		check: `x := []float64{1, 2, 4}
	point(4, func() bool { return floats.Sum(x) == 7 })
	point(1, func() bool { return f64.Sum(x) == 7 })`},
	{name: "needless copies", module: "github.com/dustin/go-humanize", copied: []string{"."}, kind: "nothing", whole: 5,
		spots: []spot{
			{"ftoa.go", "func stripTrailingZeros(s string) string {\n",
				"func stripTrailingZeros(s string) string {\n\t" + copies + "\n",
				"func stripTrailingZeros(s string) string {\n\t" + strings.Replace(copies, "40", "30", 1) + "\n"},
			{"si.go", "\treturn Ftoa(value) + \" \" + prefix + unit",
				"\ts := Ftoa(value)\n\t" + copies + "return s + \" \" + prefix + unit",
				"\ts := Ftoa(value)\n\t" + strings.Replace(copies, "40", "30", 1) + "return s + \" \" + prefix + unit"},
		},
		check: `point(2, func() bool { return humanize.SI(2.2345e-12, "F") == "2.2345 pF" })
	point(3, func() bool { return testing.AllocsPerRun(100, func() { humanize.SI(2.2345e-12, "F") }) < 25 })`},
	{name: "a separator in three files", module: "github.com/dustin/go-humanize", copied: []string{"."},
		kind: "a loss, of two too", whole: 12,
		spots: []spot{
			{"comma.go", "output[j] = ','", "output[j] = '_'", "output[j] = '.'"},
			{"commaf.go", "comma := []byte{','}", "comma := []byte{'_'}", "comma := []byte{' '}"},
			{"bytes.go", "r == '.' || r == ',') {\n\t\t\tbreak\n\t\t}\n\t\tif r == ',' {\n\t\t\thasComma = true\n\t\t}\n\t\tlastDigit++\n\t}\n\n\tnum := s[:lastDigit]\n\tif hasComma {\n\t\tnum = strings.Replace(num, \",\", \"\", -1)\n\t}\n\n\tf, err := strconv.ParseFloat(num, 64)\n\tif err != nil {\n\t\treturn 0, err",
				"r == '.' || r == '_') {\n\t\t\tbreak\n\t\t}\n\t\tif r == '_' {\n\t\t\thasComma = true\n\t\t}\n\t\tlastDigit++\n\t}\n\n\tnum := s[:lastDigit]\n\tif hasComma {\n\t\tnum = strings.Replace(num, \"_\", \"\", -1)\n\t}\n\n\tf, err := strconv.ParseFloat(num, 64)\n\tif err != nil {\n\t\treturn 0, err",
				"r == '.' || r == ';') {\n\t\t\tbreak\n\t\t}\n\t\tif r == ';' {\n\t\t\thasComma = true\n\t\t}\n\t\tlastDigit++\n\t}\n\n\tnum := s[:lastDigit]\n\tif hasComma {\n\t\tnum = strings.Replace(num, \";\", \"\", -1)\n\t}\n\n\tf, err := strconv.ParseFloat(num, 64)\n\tif err != nil {\n\t\treturn 0, err"},
		},
		check: `point(4, func() bool { n, err := humanize.ParseBytes(humanize.Comma(1234567) + " B"); return err == nil && n == 1234567 })
	point(5, func() bool { return humanize.BigCommaf(big.NewFloat(1234567)) == humanize.Comma(1234567) })
	point(1, func() bool { return humanize.Comma(1234567) == "1,234,567" })
	point(1, func() bool { return humanize.BigCommaf(big.NewFloat(1234567)) == "1,234,567" })
	point(1, func() bool { n, err := humanize.ParseBytes("1,234 B"); return err == nil && n == 1234 })`},
	{name: "options that hold together alone", module: "github.com/google/go-cmp",
		copied: []string{"cmp", "cmp/cmpopts", "cmp/internal/diff", "cmp/internal/flags", "cmp/internal/function",
			"cmp/internal/value"},
		kind: "nothing", whole: 5,
		spots: []spot{
			{"cmp/cmpopts/equate.go", "(vx.Len() == 0 && vy.Len() == 0)", "(vx.Len() == 0 && vy.Len() != 0)",
				"(vx.Len() != 0 && vy.Len() == 0)"},
			{"cmp/cmpopts/sort.go", "return !ok1 || !ok2\n}\nfunc (ss sliceSorter) sort",
				"return !ok1 && !ok2\n}\nfunc (ss sliceSorter) sort", "return ok1 && !ok2\n}\nfunc (ss sliceSorter) sort"},
		},
		check: `less := func(a, b int) bool { return a < b }
	point(2, func() bool { return cmp.Equal([]int{1, 2}, []int{1, 2}) && !cmp.Equal([]int{1}, []int{2}) })
	point(3, func() bool {
		type pair struct{ A, B []int }
		return cmp.Equal(pair{nil, []int{2, 1}}, pair{[]int{}, []int{1, 2}}, cmpopts.EquateEmpty(), cmpopts.SortSlices(less)) && !cmp.Equal(pair{}, pair{A: []int{1}}, cmpopts.EquateEmpty())
	})`},
}

// imports are those that the checks need, by the name that they use.
var imports = map[string]string{
	"errgroup.": "golang.org/x/sync/errgroup", "semaphore.": "golang.org/x/sync/semaphore",
	"singleflight.": "golang.org/x/sync/singleflight",
	"uuid.":         "github.com/google/uuid", "floats.": "gonum.org/v1/gonum/floats",
	"f64.":      "gonum.org/v1/gonum/internal/asm/f64",
	"humanize.": "github.com/dustin/go-humanize", "cmp.": "github.com/google/go-cmp/cmp",
	"cmpopts.": "github.com/google/go-cmp/cmp/cmpopts",
	"errors.":  "errors", "time.": "time", "binary.": "encoding/binary", "big.": "math/big", "testing.": "testing",
}

// program returns the source of a program that prints the points of a fault's checks as an array.
func (f fault) program(t *testing.T) string {
	t.Helper()
	used := []string{"encoding/json", "os"}
	for name, path := range imports {
		if strings.Contains(strings.ReplaceAll(f.check, "cmpopts.", "C."), name) || name == "cmpopts." &&
			strings.Contains(f.check, name) {
			used = append(used, path)
		}
	}
	slices.Sort(used)
	source := "package main\n\nimport (\n\"" + strings.Join(used, "\"\n\"") + "\"\n)\n\nvar points = []float64{}\n\n" +
		"// point gives points for a check that holds and does not panic.\nfunc point(weight float64, check func() bool) {\n\tdefer func() { recover() }()\n\tif check() {\n\t\tpoints = append(points, weight)\n\t}\n}\n\n" +
		"func main() {\n\t" + f.check + "\n\tjson.NewEncoder(os.Stdout).Encode(points)\n}\n"
	formatted, err := format.Source([]byte(source))
	if err != nil {
		t.Fatalf("%s: %v\n%s", f.name, err, source)
	}
	return string(formatted)
}

// base writes the module with the fault planted, and returns its folder, and of each spot the file's text when it is right
// and when it is wrong in another way.
func (f fault) base(t *testing.T) (dir string, right, wrong map[string]string) {
	t.Helper()
	out, err := exec.Command("go", "list", "-m", "-f", "{{.Dir}}", f.module).Output()
	from := strings.TrimSpace(string(out))
	if err != nil || from == "" {
		t.Skipf("%s is not in the module cache: %v", f.module, err)
	}
	dir, right, wrong = t.TempDir(), map[string]string{}, map[string]string{}
	write := func(name, text string) {
		path := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	for _, sub := range f.copied {
		files, err := filepath.Glob(filepath.Join(from, filepath.FromSlash(sub), "*.go"))
		if err != nil || len(files) == 0 {
			t.Fatalf("%s/%s has no files: %v", f.module, sub, err)
		}
		for _, path := range files {
			text, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			if !strings.HasSuffix(path, "_test.go") {
				write(sub+"/"+filepath.Base(path), string(text))
			}
		}
	}
	for _, s := range f.spots {
		text, err := os.ReadFile(filepath.Join(dir, filepath.FromSlash(s.file)))
		if err != nil || !strings.Contains(string(text), s.right) {
			t.Fatalf("%s of %s does not have %q: %v", s.file, f.module, s.right, err)
		}
		right[s.file] = string(text)
		wrong[s.file] = strings.ReplaceAll(string(text), s.right, s.wrong)
		write(s.file, strings.ReplaceAll(string(text), s.right, s.planted))
	}
	write("go.mod", "module "+f.module+"\n\ngo 1.24\n")
	write("check/main.go", f.program(t))
	return dir, right, wrong
}

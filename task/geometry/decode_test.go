package geometry

import (
	"encoding/json"
	"math"
	"strings"
	"testing"
)

func TestDecodeRefuses(t *testing.T) {
	for _, c := range []struct{ why, data, want string }{
		{"nothing", ``, "want a list of 2 lists of 2 numbers"},
		{"null", `null`, "want a list of 2 lists of 2 numbers"},
		{"a number", `1`, "want a list of 2 lists of 2 numbers"},
		{"a string", `"[[1,2],[3,4]]"`, "want a list of 2 lists of 2 numbers"},
		{"an object", `{"0":[1,2],"1":[3,4]}`, "want a list of 2 lists of 2 numbers"},
		{"cut off", `[[1,2],[3,4]`, "want a list of 2 lists of 2 numbers"},
		{"more behind", `[[1,2],[3,4]]]`, "want a list of 2 lists of 2 numbers"},
		{"one row too few", `[[1,2]]`, "1 rows: want 2"},
		{"one row too many", `[[1,2],[3,4],[5,6]]`, "3 rows: want 2"},
		{"a row of one", `[[1,2],[3]]`, "row 1: 1 numbers: want 2"},
		{"a row of three", `[[1,2,0],[3,4]]`, "row 0: 3 numbers: want 2"},
		{"a row that is null", `[[1,2],null]`, "row 1: want a list of 2 numbers"},
		{"flat", `[1,2]`, "row 0: want a list of 2 numbers"},
		{"nested deeper", `[[[1,2]],[[3,4]]]`, "row 0: want a list of 2 numbers"},
		{"NaN as JSON.stringify has it", `[[1,2],[3,null]]`, "row 1: number 1 is null"},
		{"NaN as Python has it", `[[1,2],[3,NaN]]`, "want a list of 2 lists of 2 numbers"},
		{"infinity as Python has it", `[[1,2],[3,-Infinity]]`, "want a list of 2 lists of 2 numbers"},
		{"a number beyond all floats", `[[1,2],[3,1e999]]`, "row 1: want a list of 2 numbers"},
		{"a number in a string", `[[1,2],[3,"4"]]`, "row 1: want a list of 2 numbers"},
		{"a boolean", `[[1,2],[3,true]]`, "row 1: want a list of 2 numbers"},
		{"an object for a number", `[[1,2],[3,{}]]`, "row 1: want a list of 2 numbers"},
	} {
		t.Run(c.why, func(t *testing.T) {
			if got, err := decodeRows([]byte(c.data), 2, 2); err == nil || err.Error() != c.want {
				t.Errorf("got %v, error %v; want error %q", got, err, c.want)
			}
		})
	}
}

func TestDecodeAccepts(t *testing.T) {
	got, err := decodePoints([]byte(" [[0, -0.5],\n[1e-3, 123456789012345680000]] "), 2)
	if err != nil || got[0] != (point{0, -0.5}) || got[1] != (point{1e-3, 123456789012345680000}) {
		t.Errorf("got %v, error %v", got, err)
	}
}

func FuzzDecodeRows(f *testing.F) {
	for _, s := range []string{`[[1,2],[3,4]]`, `[[1,2],[3,null]]`, `[[1e308,-1e308],[5e-324,0]]`, `{}`, `[[`,
		`[[1,2],[3,1e999]]`} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		rows, err := decodeRows([]byte(s), 2, 2)
		if err != nil {
			return
		}
		if strings.Contains(s, "null") {
			t.Fatalf("%q has a null and gave %v", s, rows)
		}
		var plain [2][2]float64
		if err := json.Unmarshal([]byte(s), &plain); err != nil {
			t.Fatalf("%q gave %v, which encoding/json refuses: %v", s, rows, err)
		}
		for i, row := range rows {
			for j, v := range row {
				if math.IsNaN(v) || math.IsInf(v, 0) || v != plain[i][j] {
					t.Fatalf("%q gave %v, want %v", s, rows, plain)
				}
			}
		}
	})
}

// FuzzScores checks that no output of a program makes a score that is not a plain result.
func FuzzScores(f *testing.F) {
	f.Add(`{"centers":[[0.5,0.5]],"radii":[0.5]}`)
	f.Add(strings.Repeat("[", 100))
	f.Add("[" + strings.Repeat("[0.25,0.25],", 10) + "[0.5,0.5]]")
	f.Add("[" + strings.Repeat("[1e308,-1e308],", 15) + "[5e-324,0]]")
	f.Add("[" + strings.Repeat("[0.5,0.5,0],", 25) + "[0.5,0.5,0.5]]")
	f.Fuzz(func(t *testing.T, s string) {
		for _, p := range Problems() {
			r := p.Score([]byte(s))
			clean := r.Clean()
			if r.Valid != clean.Valid || r.Score != clean.Score || r.Reason != clean.Reason || r.Valid == (r.Reason != "") {
				t.Fatalf("%s: %q gave %+v", p.Key, s, r)
			}
			if r.Score < 0 || len(r.Reason) > 300 {
				t.Fatalf("%s: %q gave %+v", p.Key, s, r)
			}
		}
	})
}

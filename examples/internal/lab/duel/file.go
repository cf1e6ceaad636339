// Package duel reads and writes the runs that searches make against each other, as the command compare keeps them, and
// says what they show.
package duel

import (
	"bytes"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strconv"
	"strings"

	"github.com/evoalloc/evoalloc/evolve/compare"
)

// A Budget is what the runs of a study have alike.
type Budget struct {
	Calls int
	FLOPs bool // all runs have equal FLOPs, those of so many calls, and not equal calls
}

func (b Budget) fields() []string {
	if b.FLOPs {
		return []string{strconv.Itoa(b.Calls), "flops"}
	}
	return []string{strconv.Itoa(b.Calls), "calls"}
}

// Columns returns those of the file. points has the calls, the FLOPs and the true score from there on, of each change.
func Columns() []string {
	return []string{"family", "search", "seed", "budget", "equal", "calls", "evaluations", "flops", "score", "claimed",
		"points"}
}

// Row returns the fields of a run.
func Row(b Budget, r compare.Run) []string {
	var points []string
	for _, p := range r.Points {
		points = append(points, fmt.Sprintf("%d %v %v", p.Calls, p.FLOPs, p.Score))
	}
	row := append([]string{r.Family, r.Search, fmt.Sprint(r.Seed)}, b.fields()...)
	return append(row, fmt.Sprint(r.Calls), fmt.Sprint(r.Evaluations), fmt.Sprint(r.FLOPs), fmt.Sprint(r.Score),
		fmt.Sprint(r.Claimed), strings.Join(points, ";"))
}

// A Line is one run of a file.
type Line struct {
	Budget
	compare.Run
}

// Read returns the runs of a file. An empty file has none.
func Read(data []byte) ([]Line, error) {
	rows, err := csv.NewReader(bytes.NewReader(data)).ReadAll()
	if err != nil || len(rows) == 0 {
		return nil, err
	}
	if !slices.Equal(rows[0], Columns()) {
		return nil, fmt.Errorf("it begins with %q: need a file that this program made", strings.Join(rows[0], ","))
	}
	var lines []Line
	for i, row := range rows[1:] {
		l, err := parse(row)
		if err != nil {
			return nil, fmt.Errorf("row %d: %w", i+2, err)
		}
		lines = append(lines, l)
	}
	return lines, nil
}

// IsFile reports whether the file at path begins as one of these does.
func IsFile(path string) bool {
	f, err := os.Open(path)
	if err != nil {
		return false
	}
	defer f.Close()
	want := strings.Join(Columns(), ",")
	begin := make([]byte, len(want))
	_, err = io.ReadFull(f, begin)
	return err == nil && string(begin) == want
}

// parse reads what Row made.
func parse(row []string) (Line, error) {
	r := compare.Run{Family: row[0], Search: row[1]}
	var errs [7]error
	r.Seed, errs[0] = strconv.ParseUint(row[2], 10, 64)
	r.Calls, errs[1] = strconv.Atoi(row[5])
	r.Evaluations, errs[2] = strconv.Atoi(row[6])
	r.FLOPs, errs[3] = strconv.ParseFloat(row[7], 64)
	r.Score, errs[4] = strconv.ParseFloat(row[8], 64)
	r.Claimed, errs[5] = strconv.ParseFloat(row[9], 64)
	b := Budget{FLOPs: row[4] == "flops"}
	b.Calls, errs[6] = strconv.Atoi(row[3])
	err := errors.Join(errs[:]...)
	for text := range strings.SplitSeq(row[10], ";") {
		var p compare.Point
		if text == "" {
			continue
		}
		if _, bad := fmt.Sscan(text, &p.Calls, &p.FLOPs, &p.Score); bad != nil {
			err = errors.Join(err, fmt.Errorf("point %q: %w", text, bad))
		}
		r.Points = append(r.Points, p)
	}
	return Line{b, r}, err
}

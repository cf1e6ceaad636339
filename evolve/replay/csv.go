package replay

import (
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"
)

// readCSV reads scores by generation, in one of the two forms that [Read] describes.
func readCSV(r io.Reader) (Log, error) {
	records, err := csv.NewReader(r).ReadAll()
	if err != nil {
		return Log{}, fmt.Errorf("replay: not CSV: %w", err)
	}
	if len(records) < 2 {
		return Log{}, errors.New("replay: CSV without a row below its head")
	}
	var arms []Arm
	if columns, ok := longForm(records[0]); ok {
		arms, err = columns.read(records[1:])
	} else {
		arms, err = readWide(records[0], records[1:])
	}
	if err != nil {
		return Log{}, err
	}
	for _, a := range arms {
		rising(a.Best)
	}
	l := Log{Arms: arms}
	return l, l.validate()
}

// readWide reads a column for each search.
func readWide(head []string, rows [][]string) ([]Arm, error) {
	if len(head) < 2 {
		return nil, fmt.Errorf("replay: CSV with the one column %q: need a column of generations and one for each search",
			head[0])
	}
	arms := make([]Arm, len(head)-1)
	for i := range arms {
		arms[i].Name = strings.TrimSpace(head[i+1])
	}
	for n, row := range rows {
		if g, err := strconv.Atoi(strings.TrimSpace(row[0])); err != nil || g != n {
			return nil, fmt.Errorf("replay: row %d of the CSV is generation %q: need %d", n+1, row[0], n)
		}
		for i, cell := range row[1:] {
			a := &arms[i]
			if cell = strings.TrimSpace(cell); cell == "" {
				continue
			}
			if len(a.Best) != n {
				return nil, fmt.Errorf("replay: search %s has a score in generation %d, but none in %d", a.Name, n, len(a.Best))
			}
			v, err := parseScore(cell)
			if err != nil {
				return nil, fmt.Errorf("replay: search %s, generation %d: %w", a.Name, n, err)
			}
			a.Best = append(a.Best, v)
		}
	}
	return arms, nil
}

// columns is the index of each column of the second form.
type columns struct{ arm, generation, score int }

func longForm(head []string) (columns, bool) {
	find := func(names ...string) int {
		for _, name := range names {
			same := func(h string) bool { return strings.EqualFold(strings.TrimSpace(h), name) }
			if i := slices.IndexFunc(head, same); i >= 0 {
				return i
			}
		}
		return -1
	}
	c := columns{find("seed", "arm"), find("generation"), find("best_fitness", "fitness", "score")}
	return c, min(c.arm, c.generation, c.score) >= 0
}

// read reads a row for each generation of each search. The searches are in the order of their first rows.
func (c columns) read(rows [][]string) ([]Arm, error) {
	var names []string
	scores := make(map[string]map[int]float64)
	for i, row := range rows {
		name := strings.TrimSpace(row[c.arm])
		g, err := strconv.Atoi(strings.TrimSpace(row[c.generation]))
		if err != nil || g < 0 {
			return nil, fmt.Errorf("replay: row %d of the CSV is generation %q: need a whole number, at least 0", i+1,
				row[c.generation])
		}
		v, err := parseScore(strings.TrimSpace(row[c.score]))
		if err != nil {
			return nil, fmt.Errorf("replay: search %s, generation %d: %w", name, g, err)
		}
		if scores[name] == nil {
			names, scores[name] = append(names, name), make(map[int]float64)
		}
		if _, twice := scores[name][g]; twice {
			return nil, fmt.Errorf("replay: search %s has generation %d twice", name, g)
		}
		scores[name][g] = v
	}
	var arms []Arm
	for _, name := range names {
		a := Arm{Name: name}
		for g := range len(scores[name]) {
			v, ok := scores[name][g]
			if !ok {
				return nil, fmt.Errorf("replay: search %s has no generation %d", name, g)
			}
			a.Best = append(a.Best, v)
		}
		arms = append(arms, a)
	}
	return arms, nil
}

func parseScore(cell string) (float64, error) {
	v, err := strconv.ParseFloat(cell, 64)
	if err != nil || math.IsNaN(v) || math.IsInf(v, 0) {
		return 0, fmt.Errorf("score %q: need a finite number", cell)
	}
	return v, nil
}

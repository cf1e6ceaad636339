package sim

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
)

// bankVersion is the version of the format of banks. A bank of another one is refused.
const bankVersion = 1

// bankJSON is a bank as it is written: see docs/reference.md. Pointers tell what is missing from what is 0.
type bankJSON struct {
	Version  *int              `json:"version"`
	Task     string            `json:"task"`
	N        *int              `json:"n"`
	Made     string            `json:"made"`
	Searches []json.RawMessage `json:"searches"`
}

type recordedJSON struct {
	Seed        *uint64      `json:"seed"`
	Generations *int         `json:"generations"`
	Rises       [][]*float64 `json:"rises"` // pairs: generation, score
}

// Write writes b as JSON, a search to a line, as [ReadBankFile] reads it. It returns an error, and writes nothing, if
// b is wrong: without a task or searches, with an N below 1, or with rises that are out of order.
func (b *Bank) Write(w io.Writer) error {
	if err := b.validate(); err != nil {
		return fmt.Errorf("sim: writing %v: %w", b, err)
	}
	var out bytes.Buffer
	task, made := quoted(b.Task), quoted(b.Made)
	fmt.Fprintf(&out, "{\"version\": %d, \"task\": %s, \"n\": %d, \"made\": %s, \"searches\": [", bankVersion, task, b.N,
		made)
	for i, r := range b.Searches {
		if i > 0 {
			out.WriteByte(',')
		}
		fmt.Fprintf(&out, "\n{\"seed\": %d, \"generations\": %d, \"rises\": [", r.Seed, r.Generations)
		for j, rise := range r.Rises {
			if j > 0 {
				out.WriteByte(',')
			}
			fmt.Fprintf(&out, "[%d,%s]", rise.Pulls, number(rise.Score))
		}
		out.WriteString("]}")
	}
	out.WriteString("\n]}\n")
	_, err := w.Write(out.Bytes())
	return err
}

// quoted returns s as a JSON string.
func quoted(s string) []byte {
	text, _ := json.Marshal(s) // a string always has one
	return text
}

// number returns a finite number as JSON, in the fewest digits that give it back.
func number(v float64) []byte {
	text, _ := json.Marshal(v)
	return text
}

// ReadBankFile reads the bank in a file that [Bank.Write] wrote. Its errors name what is wrong.
func ReadBankFile(path string) (*Bank, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("sim: reading a bank: %w", err)
	}
	defer f.Close()
	b, err := readBank(f)
	if err != nil {
		return nil, fmt.Errorf("sim: bank %s: %w", path, err)
	}
	return b, nil
}

// readBank reads a bank that [Bank.Write] wrote. It returns an error that names the search and the value if a
// field is missing, unknown or wrong, if a score is not finite, or if rises are not in order.
func readBank(r io.Reader) (*Bank, error) {
	text, err := io.ReadAll(r)
	if err != nil {
		return nil, err
	}
	var in bankJSON
	switch err := decodeStrictly(text, &in); {
	case err != nil:
		return nil, err
	case in.Version == nil || *in.Version != bankVersion:
		return nil, fmt.Errorf("its version is %s: need %d", shownInt(in.Version), bankVersion)
	case in.N == nil:
		return nil, errors.New("n is missing: need the children to a generation")
	}
	b := &Bank{Task: in.Task, N: *in.N, Made: in.Made}
	for i, text := range in.Searches {
		r, err := readRecorded(text)
		if err != nil {
			return nil, fmt.Errorf("search %d: %w", i, err)
		}
		b.Searches = append(b.Searches, r)
	}
	return b, b.validate()
}

func readRecorded(text []byte) (Recorded, error) {
	var in recordedJSON
	switch err := decodeStrictly(text, &in); {
	case err != nil:
		return Recorded{}, err
	case in.Seed == nil:
		return Recorded{}, errors.New("seed is missing")
	case in.Generations == nil:
		return Recorded{}, errors.New("generations is missing")
	}
	r := Recorded{Seed: *in.Seed, Generations: *in.Generations}
	for i, pair := range in.Rises {
		if len(pair) != 2 || pair[0] == nil || pair[1] == nil {
			return Recorded{}, fmt.Errorf("rise %d is no pair of numbers, [generation, score]", i)
		}
		g := *pair[0]
		if g != math.Trunc(g) || g < 0 || g > math.MaxInt32 {
			return Recorded{}, fmt.Errorf("rise %d is in generation %v: need a whole number", i, g)
		}
		r.Rises = append(r.Rises, Point{int(g), *pair[1]})
	}
	return r, nil
}

// decodeStrictly reads text, which has to be one value of v's form and no more.
func decodeStrictly(text []byte, v any) error {
	d := json.NewDecoder(bytes.NewReader(text))
	d.DisallowUnknownFields()
	if err := d.Decode(v); err != nil {
		if errors.Is(err, io.EOF) {
			return errors.New("it is empty")
		}
		return err
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		return fmt.Errorf("there is more after byte %d: need one bank", d.InputOffset())
	}
	return nil
}

func shownInt(p *int) string {
	if p == nil {
		return "missing"
	}
	return fmt.Sprint(*p)
}

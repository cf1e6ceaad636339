package cli

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"text/tabwriter"

	"github.com/evoalloc/evoalloc/evolve"
	"github.com/evoalloc/evoalloc/evolve/journal"
	"github.com/evoalloc/evoalloc/evolve/report"
	"github.com/evoalloc/evoalloc/task"
)

// A Saver writes a run's result and its best program beside it.
type Saver struct {
	path string // of the JSON
	ext  string // of programs
}

// NewSaver checks that both can be written to rel under the folder output, before any call is paid for, and
// removes what processes left there that were killed while they saved.
func NewSaver(output, rel string, t task.Task) (Saver, error) {
	s := Saver{filepath.Join(output, rel), task.Ext(t)}
	if s.ext == ".json" || s.ext == ".journal" { // programs may be data, and the report and journal have these names
		s.ext = ".best" + s.ext
	}
	for _, base := range []string{s.base(), s.partial()} {
		for _, ext := range []string{".json", s.ext} {
			if err := report.CheckWritable(base + ext); err != nil {
				return s, &UsageError{fmt.Errorf("--output %s: %w", output, err)}
			}
		}
	}
	return s, nil
}

// base is the name of a whole run's files without their endings.
func (s Saver) base() string { return strings.TrimSuffix(s.path, ".json") }

// partial is the same for a run that is not over.
func (s Saver) partial() string { return s.base() + ".partial" }

// Save writes file, a report, as JSON, and the best program under the same name with the task's ending. What a
// run left unfinished goes to a name of its own, NAME.partial.json, so that nothing takes it for whole, and
// does not replace one that says more.
func (s Saver) Save(file any, r *evolve.Result) error {
	base := s.base()
	if r.Stop == evolve.StopCanceled || r.Stop == evolve.StopError {
		base = s.partial()
		if _, err := os.Stat(base + ".json"); r.Behind && err == nil {
			Printf("stopped before the journal was read to its end: %s says more, and is left as it is\n", base+".json")
			return nil
		}
	}
	if err := report.Save(base+".json", file); err != nil {
		return err
	}
	if err := report.SaveFile(base+s.ext, []byte(r.Best.Program)); err != nil {
		return err
	}
	if base == s.base() { // what an earlier incarnation left unfinished is whole now
		os.Remove(s.partial() + ".json")
		os.Remove(s.partial() + s.ext)
	}
	Printf("result       %s\nbest program %s\n", base+".json", base+s.ext)
	return nil
}

// Finish saves, says how to go on with a run that is not over, and returns what the program's main should:
// runErr if the run failed, ErrCanceled if it was stopped.
func (o *Options) Finish(s Saver, file any, r *evolve.Result, runErr error) error {
	if errors.Is(runErr, journal.ErrDiverged) { // the same command would fail again, and its result is not the journal's run
		Printf("this is not the run of the journal; %s\n", o.otherFlags())
		return runErr
	}
	if err := s.Save(file, r); err != nil {
		return err
	}
	if r.Stop == evolve.StopCanceled || r.Stop == evolve.StopError {
		Printf("the budget is not spent; this goes on where it stopped:\n\n  %s\n", o.again("resume"))
	}
	switch {
	case runErr != nil:
		return runErr
	case r.Stop == evolve.StopCanceled:
		return ErrCanceled
	}
	return nil
}

// otherFlags says what to do where a journal tells of a run with other flags than these.
func (o *Options) otherFlags() string {
	return "put the flags back as they were to go on with it, or begin anew and keep its files under other names: " + o.again("anew")
}

// again returns the command of this run with one of the flags resume and anew.
func (o *Options) again(flag string) string { return command(o.example, o.args, flag) }

// command returns the command that runs the example with args, and of the flags resume and anew with the
// one that is given.
func command(example string, args []string, flag string) string {
	words := []string{"go run ./examples/" + example}
	for _, a := range args {
		name, _, _ := strings.Cut(strings.TrimLeft(a, "-"), "=")
		if strings.HasPrefix(a, "-") && (name == "resume" || name == "anew") {
			continue
		}
		words = append(words, quote(a))
	}
	return strings.Join(append(words, "--"+flag), " ")
}

// quote returns arg as a POSIX shell reads it as one word.
func quote(arg string) string {
	plain := func(r rune) bool {
		return r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || strings.ContainsRune("-_=./:,@%+", r)
	}
	if arg != "" && !strings.ContainsFunc(arg, func(r rune) bool { return !plain(r) }) {
		return arg
	}
	return "'" + strings.ReplaceAll(arg, "'", `'\''`) + "'"
}

// Table prints rows under a head, in aligned columns.
func Table(head []string, rows [][]string) {
	w := tabwriter.NewWriter(Stdout(), 0, 0, 2, ' ', tabwriter.AlignRight)
	for _, row := range append([][]string{head}, rows...) {
		fmt.Fprintln(w, strings.Join(row, "\t")+"\t")
	}
	w.Flush()
}

// Summary prints what the run came to.
func (o *Options) Summary(r *evolve.Result, start float64, f report.Cost) {
	Printf("\nended (%s) after %d calls in %.1f s: best %.6f, from %.6f\n",
		stopText(r), r.Calls, r.Elapsed.Seconds(), r.Best.Result.Score, start)
	w := f.WorstCase // the rules differ in what they charge, not in what they count
	Printf("attempts: %d ok, %d timeout, %d error, %d canceled\n", w.OK, w.Timeout, w.Error, w.Canceled)
	Printf("tokens: %d prompt (%.1f %% cached), %d completion\n\n", w.PromptTokens, 100*w.CacheHitRate, w.CompletionTokens)
	var rows [][]string
	for _, s := range f.Summaries() {
		rows = append(rows, []string{string(s.Rule), fmt.Sprintf("%.4g", s.TotalFLOPs), fmt.Sprintf("%.4g", s.TimeoutFLOPs)})
	}
	Table([]string{"rule", "FLOPs", "without usage"}, rows)
	Printf("\n")
	for _, line := range o.remarks(r) {
		Printf("%s\n\n", line)
	}
}

func stopText(r *evolve.Result) string {
	if r.Limit != "" {
		return fmt.Sprintf("%s: %s", r.Stop, r.Limit)
	}
	return string(r.Stop)
}

// CountsHead is the head of the columns of [Counts].
const CountsHead = "valid  better    of       s"

// Counts says how many children of a generation were valid, improved on the parent, and came to be, and
// how long it took.
func Counts(g evolve.Generation) string {
	var valid, better int
	for _, c := range g.Children {
		if c.Result.Valid {
			valid++
		}
		if c.Better(g.Before) {
			better++
		}
	}
	return fmt.Sprintf("%5d  %6d  %4d  %6.1f", valid, better, len(g.Children), g.Elapsed.Seconds())
}

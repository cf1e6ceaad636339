package cli

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"strconv"
	"strings"
	"time"
)

// NewFlags returns the flags of a command, which may also stand in a file. about is the command's description, after
// its name and its arguments. often are the flags that --help shows, all if there are none; --help-all shows all.
func NewFlags(command, about string, often ...string) *flag.FlagSet {
	fs := flag.NewFlagSet(command, flag.ContinueOnError)
	fs.String("config", "",
		"`file` with flags, a line \"name: value\" for each\n"+
			"A flag on the command line wins. A list is several values, separated by commas.")
	fs.Bool("help-all", false, "show all flags")
	fs.Usage = func() {
		all := fs.Lookup("help-all").Value.String() == "true"
		fmt.Fprintf(fs.Output(), "Usage: evoalloc %s\n\n", strings.Join(wrapped(command+" "+about, 100), "\n"))
		if all {
			printGroups(fs)
			return
		}
		for _, name := range often {
			printFlag(fs, fs.Lookup(name), false)
		}
		if len(often) > 0 {
			fmt.Fprintf(fs.Output(), "\n--help-all shows all flags.\n")
			return
		}
		fs.VisitAll(func(f *flag.Flag) {
			if f.Name != "help-all" {
				printFlag(fs, f, false)
			}
		})
	}
	return fs
}

// groups returns the flags that several commands have, by purpose.
func groups() []struct{ title, names string } {
	return []struct{ title, names string }{
		{"What is improved", "task base change frozen test score about cases prompt scorer runtime hints show"},
		{"The model", "model model-name params-active price temperature top-p max-tokens reasoning-effort extra folder-llm " +
			"api-base parallel-llm timeout outage stream first-token silence min-rate offline-latency"},
		{"How much it may cost", "T N budget-usd budget-tokens budget-flops budget-time target max-stalls"},
		{"The search", "seed breadth second window order noisy strict audit canary"},
		{"Evaluations", "parallel-eval eval-timeout with env writable device " +
			"nats nats-prefix nats-creds nats-nkey nats-ca nats-cert nats-key"},
		{"Files", "output journal journal-unsafe resume salvage anew grace config"},
		{"What is shown", "watch help-all"},
	}
}

// printGroups prints all flags, first those of this command alone.
func printGroups(fs *flag.FlagSet) {
	shared := map[string]bool{}
	for _, g := range groups() {
		for name := range strings.FieldsSeq(g.names) {
			shared[name] = true
		}
	}
	fs.VisitAll(func(f *flag.Flag) {
		if !shared[f.Name] {
			printFlag(fs, f, true)
		}
	})
	for _, g := range groups() {
		title := "\n" + g.title + ":\n"
		for name := range strings.FieldsSeq(g.names) {
			if f := fs.Lookup(name); f != nil {
				fmt.Fprint(fs.Output(), title)
				title = ""
				printFlag(fs, f, true)
			}
		}
	}
}

// helpColumn is the column in which the text of flags begins.
const helpColumn = 24

// printFlag prints a flag with the first line of its usage, or with whole all of it.
func printFlag(fs *flag.FlagSet, f *flag.Flag, whole bool) {
	if t, ok := f.Value.(typed); ok {
		f.Value = t.Getter // the flag package names the values of its own types
	}
	value, usage := flag.UnquoteUsage(f)
	short, rest, _ := strings.Cut(usage, "\n")
	text := short
	if whole {
		text = strings.TrimSpace(short + ". " + rest)
		if rest == "" {
			text = short
		}
	}
	if d := f.DefValue; d != "" && d != "0" && d != "0s" && d != "false" {
		text += fmt.Sprintf(" (default %s)", d)
	}
	head := "  " + strings.TrimSpace("--"+f.Name+" "+value)
	if len(head) >= helpColumn {
		fmt.Fprintln(fs.Output(), head)
		head = ""
	}
	for _, line := range wrapped(text, 100-helpColumn) {
		fmt.Fprintf(fs.Output(), "%-*s%s\n", helpColumn, head, line)
		head = ""
	}
}

// wrapped returns text in lines of at most width characters, except for longer words.
func wrapped(text string, width int) (lines []string) {
	line := ""
	for word := range strings.FieldsSeq(text) {
		if line != "" && len(line)+1+len(word) > width {
			lines, line = append(lines, line), ""
		}
		line = strings.TrimSpace(line + " " + word)
	}
	return append(lines, line)
}

// Parse reads args into fs. A wrong flag is a UsageError of one line; --help prints flags.
func Parse(fs *flag.FlagSet, args []string) error {
	rest, err := ParseArgs(fs, args)
	if err == nil && len(rest) > 0 {
		return Usagef("%s: unexpected argument %q (see --help)", fs.Name(), rest[0])
	}
	return err
}

// ParseOne is [Parse] for a command that takes one argument, and returns that. what describes the argument.
func ParseOne(fs *flag.FlagSet, args []string, what string) (string, error) {
	rest, err := ParseArgs(fs, args)
	switch {
	case err != nil:
		return "", err
	case len(rest) == 0:
		return "", Usagef("%s: %s is missing (see --help)", fs.Name(), what)
	case len(rest) > 1:
		return "", Usagef("%s: unexpected argument %q: need %s alone (see --help)", fs.Name(), rest[1], what)
	}
	return rest[0], nil
}

// ParseArgs is [Parse] for a command that takes any arguments, and returns them. Flags may stand before and after them.
func ParseArgs(fs *flag.FlagSet, args []string) (rest []string, err error) {
	fs.VisitAll(func(f *flag.Flag) {
		if g, ok := f.Value.(flag.Getter); ok {
			f.Value = typed{g}
		}
	})
	for {
		if err := parseQuietly(fs, args); err != nil {
			return nil, err
		}
		left := fs.Args()
		ended := len(left) < len(args) && args[len(args)-len(left)-1] == "--" // all that follows are arguments
		if len(left) == 0 || ended {
			rest = append(rest, left...)
			break
		}
		rest, args = append(rest, left[0]), left[1:]
	}
	if fs.Lookup("help-all").Value.String() == "true" {
		return nil, help(fs)
	}
	return rest, readConfig(fs)
}

// help prints the usage.
func help(fs *flag.FlagSet) error {
	fs.SetOutput(Stdout())
	fs.Usage()
	return flag.ErrHelp
}

// parseQuietly is fs.Parse, but prints nothing on errors.
func parseQuietly(fs *flag.FlagSet, args []string) error {
	usage := fs.Usage
	fs.Usage = func() {}
	fs.SetOutput(io.Discard)
	err := fs.Parse(args)
	fs.Usage = usage
	switch {
	case errors.Is(err, flag.ErrHelp):
		return help(fs)
	case err != nil:
		if name, found := strings.CutPrefix(err.Error(), "flag provided but not defined: -"); found {
			return noFlag(fs, name)
		}
		return Usagef("%s: %w (see --help)", fs.Name(), err)
	}
	return nil
}

// noFlag returns the error for a flag that fs does not have. It names the flag most like it.
func noFlag(fs *flag.FlagSet, name string) error {
	hint, least := "see --help-all", len(name)+1
	fs.VisitAll(func(f *flag.Flag) {
		if d := distance(name, f.Name); d < least {
			hint, least = "did you mean --"+f.Name+"? --help-all shows all", d
		}
	})
	return Usagef("%s has no flag --%s (%s)", fs.Name(), name, hint)
}

// distance returns the cost of editing a into b: 1 for each byte inserted, 2 for each deleted or replaced.
func distance(a, b string) int {
	row := make([]int, len(b)+1) // from what is read of a to each prefix of b
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		diagonal := row[0]
		row[0] += 2
		for j := range len(b) {
			replaced := diagonal
			if a[i] != b[j] {
				replaced += 2
			}
			diagonal = row[j+1]
			row[j+1] = min(replaced, row[j+1]+2, row[j]+1)
		}
	}
	return row[len(b)]
}

// A typed flag takes values as people write them: 1e3 for a whole number, 90 for 90 seconds, yes for true.
type typed struct{ flag.Getter }

// Set sets the flag. Its error says what the flag needs.
func (t typed) Set(text string) error {
	if t.Getter.Set(text) == nil {
		return nil
	}
	number, err := strconv.ParseFloat(text, 64)
	need, plain := "need a whole number", strconv.FormatFloat(number, 'f', -1, 64)
	switch t.Get().(type) {
	case float64:
		need = "need a number"
	case bool:
		need, err = "need true or false", nil
		plain = map[string]string{"yes": "true", "on": "true", "no": "false", "off": "false"}[strings.ToLower(text)]
	case time.Duration:
		need, plain = "need a time, such as 90, 90s or 5m", plain+"s"
	}
	if err != nil || t.Getter.Set(plain) != nil {
		return errors.New(need)
	}
	return nil
}

// IsBoolFlag reports whether the flag may stand without a value.
func (t typed) IsBoolFlag() bool {
	_, is := t.Get().(bool)
	return is
}

package cli

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"strings"

	"go.yaml.in/yaml/v3"
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
		{"The model", "model model-name params-active price temperature top-p max-tokens reasoning-effort extra folder-llm api-base parallel-llm timeout " +
			"stream first-token silence min-rate offline-latency offline-structure"},
		{"How much it may cost", "T N budget-usd budget-tokens budget-flops budget-time target max-stalls"},
		{"The search", "seed breadth second window order noisy strict audit canary"},
		{"Evaluations", "parallel-eval eval-timeout nats nats-prefix nats-creds nats-nkey nats-ca nats-cert nats-key"},
		{"Files", "output journal resume anew grace config"},
		{"What is shown", "rows watch open watch-addr help-all"},
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
		return Usagef("%s: %w (see --help)", fs.Name(), err)
	}
	return nil
}

// readConfig sets the flags from the file that --config names, except those on the command line.
func readConfig(fs *flag.FlagSet) error {
	path := fs.Lookup("config").Value.String()
	if path == "" {
		return nil
	}
	data, err := os.ReadFile(path)
	if err != nil {
		return Usagef("--config: %w", err)
	}
	var file yaml.Node
	if err := yaml.Unmarshal(data, &file); err != nil {
		return Usagef("--config %s: %w", path, err)
	}
	if len(file.Content) == 0 { // an empty file
		return nil
	}
	top := file.Content[0]
	if top.Kind != yaml.MappingNode {
		return Usagef("--config %s: line %d: need a line \"name: value\" for each flag", path, top.Line)
	}
	given := map[string]bool{}
	fs.Visit(func(f *flag.Flag) { given[f.Name] = true })
	set := map[string]int{} // the lines of the file's flags
	for i := 0; i < len(top.Content); i += 2 {
		key, value := top.Content[i], top.Content[i+1]
		switch first, twice := set[key.Value]; {
		case fs.Lookup(key.Value) == nil || key.Value == "config" || key.Value == "help-all":
			return Usagef("--config %s: line %d: %s has no flag %q (see --help-all)", path, key.Line, fs.Name(), key.Value)
		case key.Value == "resume" || key.Value == "anew": // a command that is printed for later has one of them
			return Usagef("--config %s: line %d: give --%s on the command line: it is of one start of the run, and not of all",
				path, key.Line, key.Value)
		case twice:
			return Usagef("--config %s: line %d: %q is in line %d already", path, key.Line, key.Value, first)
		}
		set[key.Value] = key.Line
		text, err := flagValue(value)
		if err == nil && !given[key.Value] {
			err = fs.Set(key.Value, text)
		}
		if err != nil {
			return Usagef("--config %s: line %d: %s: %w", path, key.Line, key.Value, err)
		}
	}
	return nil
}

// flagValue returns a value of a file in its form on a command line.
func flagValue(v *yaml.Node) (string, error) {
	switch v.Kind {
	case yaml.ScalarNode:
		if v.Tag == "!!null" {
			return "", errors.New(`need a value; "" is an empty one`)
		}
		return v.Value, nil
	case yaml.AliasNode:
		return flagValue(v.Alias)
	case yaml.SequenceNode:
		var all []string
		for _, one := range v.Content {
			if one.Kind != yaml.ScalarNode {
				return "", fmt.Errorf("line %d: need a value, and no list or map", one.Line)
			}
			all = append(all, one.Value)
		}
		return strings.Join(all, ","), nil
	}
	return "", errors.New("need a value, and no map")
}

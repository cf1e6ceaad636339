package cli

import "strings"

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
		words = append(words, Quote(a))
	}
	return strings.Join(append(words, "--"+flag), " ")
}

// Quote returns arg as a POSIX shell reads it as one word.
func Quote(arg string) string {
	plain := func(r rune) bool {
		return r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || strings.ContainsRune("-_=./:,@%+", r)
	}
	if arg != "" && !strings.ContainsFunc(arg, func(r rune) bool { return !plain(r) }) {
		return arg
	}
	return "'" + strings.ReplaceAll(arg, "'", `'\''`) + "'"
}

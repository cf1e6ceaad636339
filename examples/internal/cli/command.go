package cli

import (
	"regexp"
	"strings"
)

// otherFlags says what to do where a journal tells of a run with other flags than these.
func (o *Options) otherFlags() string {
	return "put the flags back as they were to go on with it, or begin anew and keep its files under other names: " + o.again("anew")
}

// again returns the command of this run with one of the flags resume and anew.
func (o *Options) again(flag string) string { return command(o.example, o.args, flag) }

// Recorded returns the command of this run for its journal, which others may read: without secrets, and with neither
// resume nor anew.
func (o *Options) Recorded() string { return command(o.example, withoutSecrets(o.args), "") }

var (
	secretFlag = regexp.MustCompile(`^--?([a-z0-9]+-)*(key|secret|password)(=|$)`)
	secretUser = regexp.MustCompile(`://[^/,\s]*@`)
	secretPart = regexp.MustCompile(`(://[^?#,\s]*)[?#][^,\s]*`)
)

// withoutSecrets returns args with *** for the value of a flag that names a key or the like, and in URLs for the user
// with the password and for what follows the path, as some services take their key there.
func withoutSecrets(args []string) (shown []string) {
	hide := false // the next one is the value of such a flag
	for _, a := range args {
		flag := secretFlag.FindString(a)
		switch {
		case hide:
			a = "***"
		case strings.HasSuffix(flag, "="):
			a = flag + "***"
		default:
			a = secretUser.ReplaceAllString(a, "://***@")
			a = secretPart.ReplaceAllString(a, "$1?***")
		}
		hide = !hide && flag != "" && !strings.HasSuffix(flag, "=")
		shown = append(shown, a)
	}
	return shown
}

// command returns the command that runs the example with args, and of the flags resume and anew with the
// one that is given, or neither if that is "".
func command(example string, args []string, flag string) string {
	words := []string{"go run ./examples/" + example}
	for _, a := range args {
		name, _, _ := strings.Cut(strings.TrimLeft(a, "-"), "=")
		if strings.HasPrefix(a, "-") && (name == "resume" || name == "anew") {
			continue
		}
		words = append(words, Quote(a))
	}
	if flag != "" {
		words = append(words, "--"+flag)
	}
	return strings.Join(words, " ")
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

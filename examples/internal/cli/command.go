package cli

import (
	"os"
	"path/filepath"
	"regexp"
	"runtime/debug"
	"strings"
)

// otherFlags returns advice for a journal of a run with other flags.
func (o *Options) otherFlags() string {
	return "put the flags back as they were to go on with it, or begin anew and keep its files under other names: " +
		o.again("anew")
}

// otherRun returns the error err of a run that is not its journal's, with advice.
func (o *Options) otherRun(err error) error {
	advice := o.otherFlags()
	if strings.Contains(err.Error(), "Budget.") {
		advice += "; of the limits, --T and those of money, tokens, FLOPs, time and stalls can be raised once they have " +
			"ended the run"
	}
	return Usagef("%w; %s", err, advice)
}

// again returns the command of this run for messages, with the flag resume or anew, and with *** for secrets.
func (o *Options) again(flag string) string {
	args := o.args
	if flag == "resume" {
		args = withJournal(args)
	}
	text := command(Typed(o.command), withoutSecrets(args), flag)
	if strings.Contains(text, "***") {
		text += "   (with what *** stands for)"
	}
	return text
}

// withJournal returns args without --journal "", since a run is resumed from its journal.
func withJournal(args []string) (kept []string) {
	for i := 0; i < len(args); i++ {
		switch name := strings.TrimPrefix(args[i], "-"); {
		case name == "-journal=" || name == "journal=":
		case (name == "-journal" || name == "journal") && i+1 < len(args) && args[i+1] == "":
			i++
		default:
			kept = append(kept, args[i])
		}
	}
	return kept
}

// Recorded returns the command of this run for its journal, which others may read elsewhere: with the working
// directory, without secrets, and with neither resume nor anew.
func (o *Options) Recorded() string {
	words := command(Typed(o.command), withoutSecrets(o.args), "")
	if dir, err := os.Getwd(); err == nil {
		words = "cd " + Quote(dir) + " && " + words
	}
	return words
}

// built matches the path of a program under "go run": in a folder that is removed afterwards, or in the cache.
var built = regexp.MustCompile(`(^|/)go-build[^/]*/|/[0-9a-f]{2}/[0-9a-f]{64}-d/`)

// Typed returns how a command of this program was typed, without its arguments: after the program's name, or after "go
// run" and its package, which works in the same folder.
func Typed(command string) string {
	program := Quote(os.Args[0])
	if built.MatchString(filepath.ToSlash(os.Args[0])) {
		folder := "./" + toolFolder
		if info, err := os.Stat(folder); err != nil || !info.IsDir() { // below the repository's own folder
			folder = module() + "/" + toolFolder
		}
		program = "go run " + folder
	}
	return program + " " + command
}

// toolFolder is where the program's package is in the module.
const toolFolder = "examples/evoalloc"

// module returns the path of the module that this program is of.
func module() string {
	if info, ok := debug.ReadBuildInfo(); ok && info.Main.Path != "" {
		return info.Main.Path
	}
	return "github.com/evoalloc/evoalloc"
}

var (
	secretFlag = regexp.MustCompile(`^--?([a-z0-9]+-)*(key|secret|password|header)(=|$)`)
	secretUser = regexp.MustCompile(`://[^/,\s]*@`)
	secretPart = regexp.MustCompile(`(://[^?#,\s]*)[?#][^,\s]*`)
)

// withoutSecrets returns args with *** for the value of a flag that names a key or the like, and in URLs for the user
// with the password and for what follows the path, as some services take their key there. That of --nats-key is a path.
func withoutSecrets(args []string) (shown []string) {
	hide, servers, env := false, false, false // the next one is the value of such a flag, of --nats, or of --env
	for _, a := range args {
		flag := secretFlag.FindString(a)
		if strings.HasSuffix(strings.TrimSuffix(flag, "="), "-nats-key") {
			flag = ""
		}
		switch name, value, given := strings.Cut(a, "="); {
		case servers:
			a = withoutUsers(a)
		case env && given:
			a = name + "=***"
		case given && strings.HasSuffix(name, "-env"):
			if variable, _, valued := strings.Cut(value, "="); valued {
				a = name + "=" + variable + "=***"
			}
		case given && strings.HasSuffix(name, "-nats"):
			a = name + "=" + withoutUsers(value)
		case hide:
			a = "***"
		case strings.HasSuffix(flag, "="):
			a = flag + "***"
		default:
			a = secretUser.ReplaceAllString(a, "://***@")
			a = secretPart.ReplaceAllString(a, "$1?***")
		}
		env = !hide && (a == "-env" || a == "--env")
		servers = !hide && (a == "-nats" || a == "--nats")
		hide = !hide && flag != "" && !strings.HasSuffix(flag, "=")
		shown = append(shown, a)
	}
	return shown
}

// withoutUsers returns URLs of NATS servers, which may have no scheme, with *** for all that stands before the host.
func withoutUsers(servers string) string {
	all := strings.Split(servers, ",")
	for i, one := range all {
		if at := strings.LastIndexByte(one, '@'); at >= 0 {
			scheme := one[:strings.Index(one, "://")+1]
			if scheme != "" {
				scheme += "//"
			}
			all[i] = scheme + "***" + one[at:]
		}
	}
	return strings.Join(all, ",")
}

// command returns the command that runs the program with args, and of the flags resume and anew with the
// one that is given, or neither if that is "".
func command(program string, args []string, flag string) string {
	words := []string{program}
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

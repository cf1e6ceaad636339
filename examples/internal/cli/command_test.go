package cli

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

func TestResumeCommand(t *testing.T) {
	for _, tt := range []struct {
		reason string
		args   []string
		want   string
	}{
		{"no flags", nil, "evoalloc bandit --resume"},
		{"said already", []string{"-resume", "--T", "8"}, "evoalloc bandit --T 8 --resume"},
		{"begun with the contrary", []string{"--anew=true", "--output", "anew"}, "evoalloc bandit --output anew --resume"},
		{"words of a shell stand as they are", []string{"--api-base=http://a:80/v1,http://b/v1"},
			"evoalloc bandit --api-base=http://a:80/v1,http://b/v1 --resume"},
		{"what a shell would take apart", []string{"--output", "my runs; $HOME"},
			"evoalloc bandit --output 'my runs; $HOME' --resume"},
		{"a quote", []string{"--output", "it's"}, `evoalloc bandit --output 'it'\''s' --resume`},
		{"nothing", []string{"--output", ""}, "evoalloc bandit --output '' --resume"},
	} {
		if got := command("evoalloc bandit", tt.args, "resume"); got != tt.want {
			t.Errorf("%s: %s, want %s", tt.reason, got, tt.want)
		}
	}
}

// A journal is shown to others, and its command must not tell them how to use an endpoint.
func TestRecordedCommand(t *testing.T) {
	for _, tt := range []struct {
		reason string
		args   []string
		want   string
	}{
		{"as it was given, to be begun anew", []string{"--T", "8", "--resume"}, "--T 8"},
		{"a password in a URL", []string{"--api-base=http://me:secret@a/v1,http://b/v1"},
			"--api-base=http://***@a/v1,http://b/v1"},
		{"a password with an @", []string{"--api-base=http://me:se@secret@a/v1,http://b@c/v1"},
			"--api-base=http://***@a/v1,http://***@c/v1"},
		{"a user alone may be a key", []string{"--api-base", "https://secret@a/v1"}, "--api-base 'https://***@a/v1'"},
		{"a key in a query", []string{"--api-base=http://a/v1?key=secret,http://b/v1"},
			"--api-base=http://a/v1?***,http://b/v1"},
		{"a key in a fragment", []string{"--api-base=http://a/v1#secret"}, "--api-base=http://a/v1?***"},
		{"a flag that names a key", []string{"--api-key", "secret", "--T=8"}, "--api-key '***' --T=8"},
		{"the same in one word", []string{"-key=secret"}, "-key=***"},
		{"the value of such a flag looks like one", []string{"--password", "--secret", "--N=4"}, "--password '***' --N=4"},
		{"the password of a queue", []string{"--nats", "nats://me:secret@a:4222,tls://secret@b"},
			"--nats nats://***@a:4222,tls://***@b"},
		{"without a scheme, and with a / in it", []string{"-nats=me:se/secret@a:4222,b"}, "-nats=***@a:4222,b"},
		{"the path of a key", []string{"--nats-key", "own.pem", "--nats-nkey", "run.nk"},
			"--nats-key own.pem --nats-nkey run.nk"},
		{"a flag that only ends like one", []string{"--first-token", "5s"}, "--first-token 5s"},
	} {
		o := Options{command: "greedy", args: tt.args}
		got := o.Recorded()
		plain := strings.NewReplacer("'", "").Replace
		if _, rest, found := strings.Cut(plain(got), plain(Typed("greedy"))+" "); !found || rest != plain(tt.want) {
			t.Errorf("%s: %s, want %s", tt.reason, got, tt.want)
		}
		if hint := o.again("resume"); !strings.HasSuffix(got,
			" && "+strings.TrimSuffix(strings.TrimSuffix(hint, "   (with what *** stands for)"), " --resume")) {
			t.Errorf("%s: it is printed as %s, and recorded as %s", tt.reason, hint, got)
		}
		if strings.Contains(got, "secret@") || strings.Contains(got, "=secret") || strings.Contains(got, "#secret") ||
			strings.Contains(got, " secret") {
			t.Errorf("%s: it has the secret: %s", tt.reason, got)
		}
	}
}

// What goes on with a run does so by its journal.
func TestResumeCommandHasAJournal(t *testing.T) {
	for _, args := range [][]string{{"--journal", "", "--T", "8"}, {"-journal=", "--T", "8"}, {"--T", "8", "--journal="}} {
		o := Options{command: "bandit", args: args}
		if got := o.again("resume"); !strings.HasSuffix(got, "bandit --T 8 --resume") {
			t.Errorf("%q: %s", args, got)
		}
	}
}

// Commands are printed as they were typed, and the recorded one leads to the folder where it works.
func TestTypedCommand(t *testing.T) {
	o := Options{command: "bandit", args: []string{"--T", "8"}}
	if os.Getenv("EVOALLOC_TYPED") != "" { // another process of this test
		fmt.Printf("%s\n%s\n", o.again("resume"), o.Recorded())
		os.Exit(0)
	}
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	program, err := os.ReadFile(exe)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "my search"), program, 0o700); err != nil {
		t.Fatal(err)
	}
	c := exec.Command("./my search", "-test.run=^TestTypedCommand$")
	c.Dir, c.Env = dir, append(os.Environ(), "EVOALLOC_TYPED=1")
	out, err := c.Output()
	want := fmt.Sprintf("'./my search' bandit --T 8 --resume\ncd %s && './my search' bandit --T 8\n", Quote(dir))
	if err != nil || string(out) != want {
		t.Errorf("a program that was built: %q, %v; want %q", out, err, want)
	}

	if !built.MatchString(filepath.ToSlash(os.Args[0])) {
		t.Skip("the test was not run by go test, whose programs are where those of go run are")
	}
	if got, want := o.again("anew"),
		"go run github.com/evoalloc/evoalloc/examples/evoalloc bandit --T 8 --anew"; got != want {
		t.Errorf("go run below the repository's folder: %s, want %s", got, want)
	}
	t.Chdir(filepath.Join("..", "..", ".."))
	if got, want := o.again("anew"), "go run ./examples/evoalloc bandit --T 8 --anew"; got != want {
		t.Errorf("go run in the repository's folder: %s, want %s", got, want)
	}
}

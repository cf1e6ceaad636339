package cli

import (
	"strings"
	"testing"
)

func TestResumeCommand(t *testing.T) {
	for _, tt := range []struct {
		reason string
		args   []string
		want   string
	}{
		{"no flags", nil, "go run ./examples/bandit --resume"},
		{"said already", []string{"-resume", "--T", "8"}, "go run ./examples/bandit --T 8 --resume"},
		{"begun with the contrary", []string{"--anew=true", "--output", "anew"}, "go run ./examples/bandit --output anew --resume"},
		{"words of a shell stand as they are", []string{"--api-base=http://a:80/v1,http://b/v1"}, "go run ./examples/bandit --api-base=http://a:80/v1,http://b/v1 --resume"},
		{"what a shell would take apart", []string{"--output", "my runs; $HOME"}, "go run ./examples/bandit --output 'my runs; $HOME' --resume"},
		{"a quote", []string{"--output", "it's"}, `go run ./examples/bandit --output 'it'\''s' --resume`},
		{"nothing", []string{"--output", ""}, "go run ./examples/bandit --output '' --resume"},
	} {
		if got := command("bandit", tt.args, "resume"); got != tt.want {
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
		{"a password in a URL", []string{"--api-base=http://me:secret@a/v1,http://b/v1"}, "--api-base=http://***@a/v1,http://b/v1"},
		{"a password with an @", []string{"--api-base=http://me:se@secret@a/v1,http://b@c/v1"}, "--api-base=http://***@a/v1,http://***@c/v1"},
		{"a user alone may be a key", []string{"--api-base", "https://secret@a/v1"}, "--api-base 'https://***@a/v1'"},
		{"a key in a query", []string{"--api-base=http://a/v1?key=secret,http://b/v1"}, "--api-base=http://a/v1?***,http://b/v1"},
		{"a key in a fragment", []string{"--api-base=http://a/v1#secret"}, "--api-base=http://a/v1?***"},
		{"a flag that names a key", []string{"--api-key", "secret", "--T=8"}, "--api-key '***' --T=8"},
		{"the same in one word", []string{"-key=secret"}, "-key=***"},
		{"the value of such a flag looks like one", []string{"--password", "--secret", "--N=4"}, "--password '***' --N=4"},
		{"a flag that only ends like one", []string{"--first-token", "5s"}, "--first-token 5s"},
	} {
		o := Options{example: "greedy", args: tt.args}
		got := o.Recorded()
		plain := strings.NewReplacer("'", "").Replace
		if plain(got) != "go run ./examples/greedy "+plain(tt.want) {
			t.Errorf("%s: %s, want %s", tt.reason, got, tt.want)
		}
		if strings.Contains(got, "secret@") || strings.Contains(got, "=secret") || strings.Contains(got, "#secret") || strings.Contains(got, " secret") {
			t.Errorf("%s: it has the secret: %s", tt.reason, got)
		}
	}
}

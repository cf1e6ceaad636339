package cli

import "testing"

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

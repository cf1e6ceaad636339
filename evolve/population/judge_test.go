package population

import "testing"

func TestVerdict(t *testing.T) {
	for _, tt := range []struct{ reason, reply, want string }{
		{"the form that is asked for", "They differ.\n\nVERDICT: NEW", "NEW"},
		{"the other", "VERDICT: SAME\n", "SAME"},
		{"the last one counts", "VERDICT: NEW\nNo:\nVERDICT: SAME", "SAME"},
		{"dressed up", "> **Verdict: new.**", "NEW"},
		{"in another case", "verdict: same", "SAME"},
		{"a verdict that is not one of them is none", "VERDICT: NOT NEW", ""},
		{"nor are both", "VERDICT: NEW or SAME", ""},
		{"nor is the word alone", "NEW", ""},
		{"nor is a sentence about it", "The verdict: NEW is what I would say", ""},
		{"nothing", "", ""},
	} {
		if got := verdict(tt.reply); got != tt.want {
			t.Errorf("%s: %q is %q, want %q", tt.reason, tt.reply, got, tt.want)
		}
	}
}

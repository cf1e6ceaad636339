package printable

import "testing"

func TestField(t *testing.T) {
	for s, want := range map[string]string{
		"": "", "cp": "cp", "a=b": "a=b", "'x": "'x", "é": "é",
		"=1+1": "'=1+1", "+1": "'+1", "-1": "'-1", "@SUM(A1)": "'@SUM(A1)", "\t=1": "'\t=1", "\r=1": "'\r=1", "\n=1": "'\n=1",
	} {
		if got := Field(s); got != want {
			t.Errorf("%q: %q, want %q", s, got, want)
		}
	}
}

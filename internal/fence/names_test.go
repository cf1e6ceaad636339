package fence

import "testing"

// A tag that two languages went by would be read as the first of them, whoever wrote it.
func TestLanguagesShareNoTag(t *testing.T) {
	owner := map[string]string{}
	for _, l := range names {
		for _, name := range append([]string{l.name}, l.aliases...) {
			if other, ok := owner[name]; ok {
				t.Errorf("%q is both %s and %s", name, other, l.name)
			}
			owner[name] = l.name
		}
	}
}

func TestNameOf(t *testing.T) {
	tests := []struct{ ext, want, reason string }{
		{".py", "python", "the ending itself"},
		{".RS", "rust", "in any case"},
		{".cc", "c++", "another ending, which is also another name"},
		{".mjs", "javascript", "another ending"},
		{".xyz", "", "not known"},
		{"", "", "none"},
	}
	for _, tt := range tests {
		if got := NameOf(tt.ext); got != tt.want {
			t.Errorf("NameOf(%q) = %q, want %q: %s", tt.ext, got, tt.want, tt.reason)
		}
	}
	for _, l := range names {
		if got := NameOf(l.ext); got != l.name {
			t.Errorf("NameOf(%q) = %q, want %q", l.ext, got, l.name)
		}
	}
}

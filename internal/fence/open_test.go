package fence

import "testing"

func TestOpen(t *testing.T) {
	tests := []struct {
		tag, program string
		want         bool
		reason       string
	}{
		{"python", "def f(x):\n    return (2 * x)\n", false, "all is closed"},
		{"py", "def f(x):\n    \"\"\"Example:\n", true, "a docstring"},
		{"python", "def f(x):\n    '''Example:\n", true, "of the other quotes"},
		{"python", "x = \"\"\"a\"\"\"\n", false, "one that ends"},
		{"python", "x = 'don't\n", false, "a string ends with its line"},
		{"python", "x = [1,\n", true, "a bracket"},
		{"python", "x = '(' # [\n", false, "brackets in strings and comments"},
		{"js", "const s = `a\n", true, "a template"},
		{"js", "const s = `a ${f(`b`)}`\n", false, "one in another"},
		{"js", "/** Example:\n", true, "a comment"},
		{"js", "x = `a` /* b */\n", false, "one that ends"},
		{"text", "Say (:\n", false, "no language"},
		{"python", "", false, "nothing"},
	}
	for _, tt := range tests {
		if got := Open(tt.tag, tt.program); got != tt.want {
			t.Errorf("Open(%q, %q) = %v: %s", tt.tag, tt.program, got, tt.reason)
		}
	}
}

package timing

import (
	"context"
	_ "embed"
)

//go:embed harness.py
var harness []byte

// Python returns a Build for programs in Python that define a function entry(x, out): it fills the NumPy array out by
// the numbers of x, both float64. Outputs have the size that Config.Output returns; see [Floats] and [Close].
// interpreter is the path of a Python with NumPy, as from eval/python's Find.
//
// The function gets views of shared memory, so out is checked without a copy. x is read-only, and a program that writes
// to it nevertheless is invalid.
func Python(interpreter, entry string) Build {
	return func(_ context.Context, program string) (Image, error) {
		return Image{
			Args:  []string{interpreter, "-I", "harness.py", "program.py", entry},
			Files: map[string][]byte{"harness.py": harness, "program.py": []byte(program)},
			Env:   []string{"PYTHONHASHSEED=0", "PYTHONDONTWRITEBYTECODE=1"},
		}, nil
	}
}

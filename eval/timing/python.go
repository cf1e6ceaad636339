package timing

import (
	"context"
	_ "embed"
)

//go:embed harness.py
var harness []byte

// Python returns a Build for programs in Python that define a function entry(x, out): it fills the NumPy array out by
// the numbers of x, both float64. Outputs are as Config.Output says, by default as long as the input; see [Floats] and
// [Close]. interpreter is a path of a Python with NumPy, as eval/python's Find returns one.
//
// The function is given views of shared memory, so what it leaves in out is what is checked, and nothing is copied.
// x cannot be written to, and a program that writes to it all the same is invalid.
func Python(interpreter, entry string) Build {
	return func(_ context.Context, program string) (Image, error) {
		return Image{
			Args:  []string{interpreter, "-I", "harness.py", "program.py", entry},
			Files: map[string][]byte{"harness.py": harness, "program.py": []byte(program)},
			Env:   []string{"PYTHONHASHSEED=0", "PYTHONDONTWRITEBYTECODE=1"},
		}, nil
	}
}

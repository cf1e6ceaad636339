package folder

import (
	"crypto/sha256"
	"fmt"
	"os"
	"path/filepath"

	"github.com/evoalloc/evoalloc/eval/python"
)

// fingerprint returns a hash of what scores programs: how evaluator.py is run, but for where, what p lets in, and the
// Python files among names, but for the initial program.
func fingerprint(e Evaluation, p python.Config, names []string, initial string) (string, error) {
	h := sha256.New()
	fmt.Fprintf(h, "{Dir: Suffix:%s Timeout:%v Memory:%d NoCascade:%v Thresholds:%v}\n",
		e.Suffix, e.Timeout, e.Memory, e.NoCascade, e.Thresholds)
	if e.Files {
		fmt.Fprintln(h, "files")
	}
	if len(p.With)+len(p.Env)+len(p.Writable)+len(p.Devices) > 0 {
		fmt.Fprintf(h, "%q %q %q %q\n", p.With, p.Env, p.Writable, p.Devices)
	}
	for _, v := range p.Env {
		fmt.Fprintf(h, "%q\n", os.Getenv(v))
	}
	for _, name := range names {
		if filepath.Ext(name) != ".py" || name == initial {
			continue
		}
		text, err := readBytes(e.Dir, name, maxProgram)
		if err != nil {
			return "", err
		}
		fmt.Fprintf(h, "%q %d\n%s", name, len(text), text)
	}
	return fmt.Sprintf("%x", h.Sum(nil)[:8]), nil
}

package folder

import (
	"crypto/sha256"
	"fmt"
	"path/filepath"
)

// fingerprint returns a hash of what scores programs: how evaluator.py is run, but for where, and the
// Python files among names, but for the initial program.
func fingerprint(e Evaluation, names []string, initial string) (string, error) {
	h := sha256.New()
	fmt.Fprintf(h, "{Dir: Suffix:%s Timeout:%v Memory:%d NoCascade:%v Thresholds:%v}\n",
		e.Suffix, e.Timeout, e.Memory, e.NoCascade, e.Thresholds)
	if e.Files {
		fmt.Fprintln(h, "files")
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

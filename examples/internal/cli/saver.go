package cli

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/evoalloc/evoalloc/evolve"
	"github.com/evoalloc/evoalloc/evolve/result"
	"github.com/evoalloc/evoalloc/task"
)

// A saver writes a run's result and its best program beside it.
type saver struct {
	task task.Task
	path string // of the JSON
	ext  string // of programs
}

// newSaver checks that both can be written to rel under the folder output, before any call is paid for, and
// removes what processes left there that were killed while they saved.
func newSaver(output, rel string, t task.Task) (saver, error) {
	s := saver{t, filepath.Join(output, rel), task.Ext(t)}
	if s.ext == ".json" || s.ext == ".journal" { // programs may be data, and the report and journal have these names
		s.ext = ".best" + s.ext
	}
	for _, base := range []string{s.base(), s.partial()} {
		for _, ext := range s.endings() {
			if err := result.CheckWritable(base + ext); err != nil {
				return s, &UsageError{fmt.Errorf("--output %s: %w", output, err)}
			}
		}
	}
	return s, nil
}

// patchEnding is the ending of the patch that the best program of a tree is.
const patchEnding = ".patch"

// endings returns the endings of a result's files but its page. There is a patch if the task is a tree.
func (s saver) endings() []string {
	if isTree(s.task) {
		return []string{".json", s.ext, patchEnding}
	}
	return []string{".json", s.ext}
}

// base is the name of a whole run's files without their endings.
func (s saver) base() string { return strings.TrimSuffix(s.path, ".json") }

// partial is the same for a run that is not over.
func (s saver) partial() string { return s.base() + ".partial" }

// name is the name of the files of a run that ended with r, without their endings.
func (s saver) name(r *evolve.Result) string {
	if unfinished(r) {
		return s.partial()
	}
	return s.base()
}

// save writes file, a report, as JSON, and the best program under the same name with the task's ending. What a
// run left unfinished goes to a name of its own, NAME.partial.json, so that nothing takes it for whole, and
// does not replace one that says more, which is then left as it is.
func (s saver) save(file any, r *evolve.Result) (saved bool, err error) {
	base := s.name(r)
	if unfinished(r) {
		if _, err := os.Stat(base + ".json"); r.Behind && err == nil {
			Printf("stopped before the journal was read to its end: %s says more, and is left as it is\n", base+".json")
			return false, nil
		}
	}
	if err := result.Save(base+".json", file); err != nil {
		return false, err
	}
	if err := result.SaveFile(base+s.ext, []byte(r.Best.Program)); err != nil {
		return false, err
	}
	if !unfinished(r) { // what an earlier incarnation left unfinished is whole now
		for _, ext := range []string{".json", s.ext, pageEnding, patchEnding} {
			os.Remove(s.partial() + ext)
		}
	}
	Printf("result       %s\nbest program %s\n", base+".json", base+s.ext)
	return true, saveDiff(s.task, base+patchEnding, r.Best.Program, result.SaveFile)
}

package export

import (
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

// ending is the ending of a program's file.
var ending = regexp.MustCompile(`^\.[A-Za-z0-9]{1,10}$`)

// beside returns a name for the file of a program: "program" with the ending of the best program that the examples
// save beside a journal. The journal does not tell the language.
func beside(journal string) string {
	base := strings.TrimSuffix(journal, ".journal")
	var endings []string
	for _, middle := range []string{".", ".partial.", ".best."} {
		// A folder of this name with a meaning in patterns is not found, and the file has no ending then.
		found, _ := filepath.Glob(base + middle + "*")
		for _, path := range found {
			ext := strings.TrimPrefix(path, base+strings.TrimSuffix(middle, "."))
			data := middle != ".best." && (ext == ".json" || ext == ".journal" || ext == ".partial" || ext == ".best")
			if ending.MatchString(ext) && !data {
				endings = append(endings, ext)
			}
		}
	}
	slices.Sort(endings)
	if endings = slices.Compact(endings); len(endings) == 1 {
		return "program" + endings[0]
	}
	return "program"
}

package folder

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"
)

// unread warns of files in dir that look like settings but are not read: some folders have one for each phase of a run,
// and no config.yaml. It ignores files without any key that is used here, such as test cases.
func unread(dir string, f files) []string {
	var found []string
	for _, name := range f.all {
		ext := filepath.Ext(name)
		if name != f.settings && (ext == ".yaml" || ext == ".yml") && hasSettings(dir, name) {
			found = append(found, name)
		}
	}
	switch {
	case len(found) == 0:
		return nil
	case f.settings == "":
		return []string{fmt.Sprintf("settings that are not read: %s; only config.yaml is: rename one, or name it in "+
			"Config.Settings", strings.Join(found, ", "))}
	}
	return []string{fmt.Sprintf("settings that are not read: %s; %s is: name another in Config.Settings",
		strings.Join(found, ", "), f.settings)}
}

// hasSettings reports whether the file holds a setting that would be used if it were the config.yaml.
func hasSettings(dir, name string) bool {
	text, err := readFile(dir, name, maxSettings)
	if err != nil {
		return false
	}
	root, err := document(text)
	if err != nil {
		return false
	}
	top, err := mappingOf("", root)
	if err != nil {
		return false
	}
	return slices.ContainsFunc(top.names, func(key string) bool { return slices.Contains(used()[""], key) })
}

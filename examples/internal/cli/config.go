package cli

import (
	"bytes"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"
)

// readConfig sets the flags from the file that --config names, except those on the command line.
func readConfig(fs *flag.FlagSet) error {
	path := fs.Lookup("config").Value.String()
	if path == "" {
		return nil
	}
	if info, err := os.Stat(path); err == nil && info.Size() > 4<<20 {
		return Usagef("--config %s: it is larger than 4 MiB", path)
	}
	data, err := os.ReadFile(path)
	if err != nil {
		return Usagef("--config: %w", err)
	}
	top, err := document(data)
	switch {
	case err != nil:
		return Usagef("--config %s: %w", path, err)
	case top == nil: // an empty file
		return nil
	case top.Kind != yaml.MappingNode:
		return Usagef("--config %s: line %d: need a line \"name: value\" for each flag", path, top.Line)
	}
	given := map[string]bool{}
	fs.Visit(func(f *flag.Flag) { given[f.Name] = true })
	set := map[string]int{} // the lines of the file's flags
	for i := 0; i < len(top.Content); i += 2 {
		key, value := top.Content[i], top.Content[i+1]
		switch first, twice := set[key.Value]; {
		case fs.Lookup(key.Value) == nil:
			return Usagef("--config %s: line %d: %w", path, key.Line, noFlag(fs, key.Value))
		case slices.Contains([]string{"config", "help-all", "resume", "anew"}, key.Value):
			return Usagef("--config %s: line %d: give --%s on the command line", path, key.Line, key.Value)
		case twice:
			return Usagef("--config %s: line %d: %q is in line %d already", path, key.Line, key.Value, first)
		}
		set[key.Value] = key.Line
		if err := setFlag(fs, key.Value, value, given[key.Value]); err != nil {
			return Usagef("--config %s: line %d: %s: %w", path, key.Line, key.Value, err)
		}
	}
	return nil
}

// document returns the one document of a file, or nil if the file is empty.
func document(data []byte) (*yaml.Node, error) {
	d := yaml.NewDecoder(bytes.NewReader(data))
	var file, more yaml.Node
	if err := d.Decode(&file); errors.Is(err, io.EOF) {
		return nil, nil
	} else if err != nil {
		return nil, err
	}
	if err := d.Decode(&more); !errors.Is(err, io.EOF) {
		return nil, errors.New("it has several documents: a file has the flags of one command")
	}
	if len(file.Content) == 0 {
		return nil, nil
	}
	return file.Content[0], nil
}

// setFlag sets a flag to a value of a file. A flag that the command line has given is only checked for its form.
func setFlag(fs *flag.FlagSet, name string, v *yaml.Node, given bool) error {
	f := fs.Lookup(name)
	values, err := flagValues(f, v)
	if err != nil || given {
		return err
	}
	for _, text := range values {
		if err := fs.Set(name, text); err != nil {
			return fmt.Errorf("%q: %w", text, err)
		}
	}
	return nil
}

// flagValues returns a value of a file as it stands on a command line: several of a flag that may be given again.
func flagValues(f *flag.Flag, v *yaml.Node) ([]string, error) {
	switch v.Kind {
	case yaml.AliasNode:
		return flagValues(f, v.Alias)
	case yaml.ScalarNode:
		if v.Tag == "!!null" {
			return nil, errors.New(`need a value; "" is an empty one`)
		}
		return []string{v.Value}, nil
	case yaml.SequenceNode:
		return listed(f, v.Content)
	case yaml.MappingNode:
		object := map[string]any{}
		if _, takes := f.Value.(*fields); !takes {
			return nil, errors.New("need a value, and no map")
		}
		if err := v.Decode(&object); err != nil {
			return nil, err
		}
		text, err := json.Marshal(object)
		return []string{string(text)}, err
	}
	return nil, errors.New("need a value")
}

// listed returns a list as a flag takes it: separated by commas, or by blanks if its elements have commas themselves.
func listed(f *flag.Flag, list []*yaml.Node) ([]string, error) {
	var all []string
	between := ","
	for _, one := range list {
		if one.Kind != yaml.ScalarNode {
			return nil, fmt.Errorf("line %d: need a value, and no list or map", one.Line)
		}
		if strings.Contains(one.Value, ",") {
			between = " "
		}
		all = append(all, one.Value)
	}
	if _, again := f.Value.(*repeated); again {
		return all, nil
	}
	return []string{strings.Join(all, between)}, nil
}

// repeated is a flag that may be given again.
type repeated []string

func (r *repeated) Set(text string) error {
	*r = append(*r, text)
	return nil
}

func (r *repeated) String() string { return strings.Join(*r, " ") }

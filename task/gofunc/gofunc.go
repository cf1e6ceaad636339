// Package gofunc has tasks of making a Go function faster: the function must pass a test and answer like a baseline,
// and is scored by its speed relative to that baseline (package timing).
//
// A candidate is one file of a package. It may import few packages (see [Imports]), and is compiled in isolation,
// without a network and with a read-only module and build cache. Its answers are compared outside its process, on
// inputs drawn after it was loaded. The test, which runs in its process, is for cases that the inputs lack, and for
// races.
package gofunc

import (
	"cmp"
	"context"
	"crypto/sha256"
	"embed"
	"encoding/json"
	"errors"
	"fmt"
	"go/parser"
	"go/token"
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/evoalloc/evoalloc/eval"
	"github.com/evoalloc/evoalloc/eval/command"
	"github.com/evoalloc/evoalloc/eval/timing"
	"github.com/evoalloc/evoalloc/internal/memo"
	"github.com/evoalloc/evoalloc/task"
)

//go:embed around
var around embed.FS

// Config configures the task.
type Config struct {
	Name    string // the task's name, see [task.Spec]; required
	System  string // the system message, which specifies the function
	Initial string // the file that every search starts from; required
	// Driver is a Go file of package driver with a function Drive(in, out []byte), which calls the candidate's package,
	// imported as "zz/candidate", with the input in and writes the answer to out. The check reads both, and in must not
	// change. The driver is timed too, for the baseline and for candidates alike. Required.
	Driver string
	// Test is a Go file of tests; "" means none. Its package is the candidate's with _test after its name, and imports the
	// candidate's as "zz/candidate": a test in the candidate's own package would use its declarations, such as a redefined
	// len.
	Test string
	// Race runs the test under the race detector, which needs a C compiler and an unlimited address space.
	Race bool
	// Imports are the packages that a candidate may import; nil means those of the function Imports.
	Imports []string
	// Machine times candidates; required.
	Machine *timing.Machine
	// Timing configures the timing. Input is required. Build is set by New, and a Baseline of "" means Initial.
	Timing timing.Config
	// Folder is the folder for the module around the function, which the caller makes and removes. Required.
	Folder string
	// Build is the wall time for test and compilation; 0 means 60 s.
	Build time.Duration
	// Hide names existing files and folders that test and compilation must not read, such as credentials. Give the same to
	// the Machine, for timed programs.
	Hide []string
	// Feedback bounds the bytes of metrics and artifacts in the prompt; 0 means none.
	Feedback int
	// Logger gets a line at start with the mechanisms that contain compilations; nil means [slog.Default].
	Logger *slog.Logger
}

func (c Config) validate() error {
	for _, v := range []struct{ name, value, what string }{
		{"Initial", c.Initial, "a Go file to start from"},
		{"Driver", c.Driver, "a Go file that calls the function"},
		{"Folder", c.Folder, "a folder for the module"},
	} {
		if v.value == "" {
			return fmt.Errorf("gofunc: Config.%s is empty: need %s", v.name, v.what)
		}
	}
	switch {
	case c.Machine == nil:
		return errors.New("gofunc: Config.Machine is nil: need one of timing.NewMachine")
	case c.Race && c.Test == "":
		return errors.New("gofunc: Config.Race without a Test: the detector sees only what a test runs")
	}
	return nil
}

// New returns the task. It tests, compiles and calls the initial program, so that a missing go command or, for Race, C
// compiler is reported before anything is paid for.
func New(ctx context.Context, cfg Config) (task.Task, error) {
	if err := cfg.validate(); err != nil {
		return nil, err
	}
	b := &builder{imports: cfg.Imports, images: newImages()}
	if b.imports == nil {
		b.imports = Imports()
	}
	file, err := parser.ParseFile(token.NewFileSet(), "", cfg.Initial, parser.PackageClauseOnly)
	if err != nil {
		return nil, fmt.Errorf("gofunc: Config.Initial: %w", err)
	}
	b.pkg = file.Name.Name
	if err := external(cfg.Test, b.pkg); err != nil {
		return nil, err
	}
	if b.runner, err = prepare(ctx, cfg); err != nil {
		return nil, err
	}
	timed := cfg.Timing
	timed.Build, timed.Baseline = b.build, cmp.Or(timed.Baseline, cfg.Initial)
	evaluator, err := cfg.Machine.Evaluator(ctx, timed)
	if err != nil {
		return nil, fmt.Errorf("gofunc: %w", err)
	}
	return task.New(task.Spec{Name: cfg.Name, Language: "go", System: cfg.System, Initial: cfg.Initial,
		Evaluator: evaluator, Feedback: cfg.Feedback})
}

// external returns an error if test is in the package of the candidates.
func external(test, pkg string) error {
	if test == "" {
		return nil
	}
	file, err := parser.ParseFile(token.NewFileSet(), "", test, parser.PackageClauseOnly)
	if err != nil {
		return fmt.Errorf("gofunc: Config.Test: %w", err)
	}
	if name := file.Name.Name; name != pkg+"_test" {
		return fmt.Errorf("gofunc: Config.Test is of package %s: need %s_test, which imports the candidate's as "+
			"\"zz/candidate\"", name, pkg)
	}
	return nil
}

// A builder compiles candidates.
type builder struct {
	runner  eval.Runner
	pkg     string
	imports []string
	images  *memo.Table[timing.Image] // a program that is timed again is not built again
}

// imageBytes bounds the images that are remembered. A small program has about 2 MB.
const imageBytes = 32 << 20

func newImages() *memo.Table[timing.Image] {
	return memo.New(imageBytes, func(i timing.Image) int { return len(i.Files[binaryName]) })
}

// build checks, tests and compiles a program, once while its image is remembered.
func (b *builder) build(ctx context.Context, program string) (timing.Image, error) {
	return b.images.Do(ctx, sha256.Sum256([]byte(program)),
		func() (timing.Image, error) { return b.compile(ctx, program) })
}

// binaryName is the file of an image that is run.
const binaryName = "timed"

func (b *builder) compile(ctx context.Context, program string) (timing.Image, error) {
	if err := check(program, b.pkg, b.imports); err != nil {
		return timing.Image{}, &eval.ProgramError{Reason: err.Error()}
	}
	text, err := b.runner.Run(ctx, program, "")
	if err != nil {
		return timing.Image{}, err
	}
	var binary []byte // base 64 in JSON
	if err := json.Unmarshal(text, &binary); err != nil {
		return timing.Image{}, fmt.Errorf("gofunc: reading what was compiled: %w", err)
	}
	return timing.Image{Args: []string{"./" + binaryName}, Files: map[string][]byte{binaryName: binary}}, nil
}

// fixed is the environment of the go command, which without goindex=0 writes an index of the module into its cache, and
// fails if it cannot.
func fixed(race bool) []string {
	env := []string{"GOTOOLCHAIN=local", "GOPROXY=off", "GOWORK=off", "GOFLAGS=-mod=readonly", "GODEBUG=goindex=0",
		"CGO_ENABLED=0", "RACE="}
	if race {
		env = append(env, "CGO_ENABLED=1", "RACE=-race")
	}
	return env
}

// prepare writes the module, fills the go command's cache, and returns the runner that builds candidates. Builds can
// read that cache, but not write to it.
func prepare(ctx context.Context, cfg Config) (*command.Runner, error) {
	template, trial := filepath.Join(cfg.Folder, "template"), filepath.Join(cfg.Folder, "trial")
	if err := errors.Join(furnish(template, cfg), furnish(trial, cfg)); err != nil {
		return nil, fmt.Errorf("gofunc: writing the module: %w", err)
	}
	if err := os.WriteFile(filepath.Join(trial, "candidate.txt"), []byte(cfg.Initial), 0o600); err != nil {
		return nil, fmt.Errorf("gofunc: writing the initial program: %w", err)
	}
	cache, err := exec.CommandContext(ctx, "go", "env", "GOCACHE").Output()
	if err != nil {
		return nil, fmt.Errorf("gofunc: asking the go command, which has to be on the PATH, where it caches: %w", err)
	}
	cmd := exec.CommandContext(ctx, "sh", "build.sh")
	var said strings.Builder
	cmd.Dir, cmd.Env, cmd.Stderr = trial, append(os.Environ(), fixed(cfg.Race)...), &said
	if err := cmd.Run(); err != nil {
		return nil, fmt.Errorf("gofunc: trying the initial program: %w: %s", err, said.String())
	}
	memory := int64(4 << 30)
	if cfg.Race {
		memory = 1 << 50 // the detector maps most of the address space
	}
	return command.NewRunner(command.Config{
		Args: []string{"sh", "build.sh"}, File: "candidate.txt", Template: template, Timeout: cfg.Build, Memory: memory,
		Env:         slices.Concat([]string{"PATH", "GOCACHE=" + strings.TrimSpace(string(cache))}, fixed(cfg.Race)),
		ResultBytes: 15 << 20, Hide: cfg.Hide, Logger: cfg.Logger,
	})
}

// furnish writes the module without the candidate.
func furnish(dir string, cfg Config) error {
	files := map[string]string{"go.mod": "module zz\n\ngo 1.26\n", "driver/driver.go": cfg.Driver}
	for name, from := range map[string]string{"main.go": "main.go.txt", "alone/alone.go": "alone.go.txt",
		"build.sh": "build.sh"} {
		text, err := around.ReadFile("around/" + from)
		if err != nil {
			return err
		}
		files[name] = string(text)
	}
	if cfg.Test != "" {
		files["candidate/candidate_test.go"] = cfg.Test
	}
	err := os.MkdirAll(filepath.Join(dir, "candidate"), 0o700)
	for name, text := range files {
		path := filepath.Join(dir, filepath.FromSlash(name))
		err = errors.Join(err, os.MkdirAll(filepath.Dir(path), 0o700), os.WriteFile(path, []byte(text), 0o600))
	}
	return err
}

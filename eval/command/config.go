package command

import (
	"cmp"
	"fmt"
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/evoalloc/evoalloc/eval/isolation"
	"github.com/evoalloc/evoalloc/internal/sandbox"
)

// Config configures how candidates are run. Limits that are too low are errors: Timeout and CPU must be at least 1 ms,
// Memory 1 MiB, OpenFiles 16, OutputBytes 2, the others 1.
type Config struct {
	// Args are the command and its arguments if there is only one. Args means the same as Run.
	Args []string
	// Build, Run and Score are the commands of up to three steps; a nil one is left out. Run is required, here or in Args.
	// Each step is contained by itself, and begins when all processes of the previous step are dead, with an empty working
	// directory and an empty HOME of its own. So a scorer finds files of a candidate only in {run} and {build}:
	//
	//	Build: []string{"cc", "-O2", "-o", "a.out", "{program}"},
	//	Run:   []string{"{build}/a.out"},
	//	Score: []string{"python3", "/opt/task/score.py", "{run}/answer.txt"},
	//
	// In each argument {program} stands for the path of the candidate's file, {entry} for the name of the function that a
	// [Runner] is asked to run, {folder} for the step's working directory, and {build} and {run} for those of earlier
	// steps, which are read-only. The first step finds Template and the candidate's file in its working directory. Later
	// steps get a fresh copy of the file elsewhere.
	//
	// Later steps can execute the files that Build makes. Score reads the output of Run, at most ResultBytes, on its
	// standard input. Score finds no links or pipes in {run} and {build}, and does not see Writable. The last step prints
	// the result. A step that fails makes the program invalid and ends the evaluation.
	//
	// Some argument must contain {program}, unless there is a Template.
	Build, Run, Score []string
	// File is the name of the candidate's file; "" means "program". A compiler may insist on an
	// ending.
	File string
	// Template is a folder that is copied into the working directory of the first step for each candidate, before the
	// candidate's file; "" means none. Files keep their modes, which contained candidates cannot change: see Build.
	Template string

	// Base is a folder that programs are changes of, as in package tree; "" means that each program is a file. The first
	// step works in the base with the program's changes, and {program} is that folder. In later steps {program} is a
	// fresh folder with the same content. Candidates share the base as a read-only layer on Linux 5.11 or later with
	// private mounts. Elsewhere each candidate gets a copy. A program is invalid if it is not a patch, or if its paths do
	// not fit the base. Do not change the base while the Evaluator or Runner is in use. Base and Template exclude each
	// other.
	Base string
	// Git has candidates find what is called .git in the base, with all history. Otherwise none of it is there for them.
	Git bool
	// Caches are folders such as a build cache or installed packages. Each step sees them unchanged, and its own changes
	// are dropped when it ends. Without layers candidates can only read caches. If nothing makes folders read-only
	// either, candidates write to the caches themselves.
	Caches []string

	// Timeout is the wall time of each step; 0 means 60 s, and 30 minutes for an [Editor].
	Timeout time.Duration
	// CPU is the processor time of one process; 0 means a second more than Timeout, so that a loop in one thread always
	// ends at Timeout.
	CPU time.Duration
	// Memory is the address space of one process in bytes; 0 means 4 GiB, and 64 GiB for an [Editor], as runtimes that
	// agents are written for reserve much that they never use.
	Memory int64
	// Processes bounds a candidate's simultaneous processes and threads; 0 means 256.
	Processes int
	// OpenFiles is the number of open files of one process; 0 means 1024.
	OpenFiles int
	// FileBytes is the size of one file; 0 means 64 MiB.
	FileBytes int64
	// OutputBytes is the number of bytes kept of standard output and of standard error, half of them from the end; 0 means
	// 32 KiB. A candidate that prints more than 16 MiB on either is killed.
	OutputBytes int
	// ResultBytes is the size limit of the JSON on standard output; 0 means 4 MiB.
	ResultBytes int

	// Writable are folders, besides the temporary one, that candidates may write to, but Score may not. All candidates
	// share them, and a hostile one can spoil them: use them for caches only.
	Writable []string
	// Hide names existing files and folders that no step may read, such as credentials. A file that is replaced by another
	// while a step runs, as rotated credentials are, stays hidden only if its folder is hidden. On Linux it is an error at
	// start if neither private mounts nor Landlock can hide them. It is an error if one lies in Writable, where a
	// candidate could move it. Nothing is hidden under [isolation.None] or on other systems.
	Hide []string
	// Isolation is the required level of containment.
	Isolation isolation.Level
	// Env is the environment of candidates: NAME=value, or NAME for this process's value. In addition, PATH is a fixed
	// list of folders, HOME and TMPDIR are a folder for temporary files, and LANG is C.UTF-8.
	Env []string
	// Logger gets a line at start with the mechanisms in force, at debug level unless some are missing; nil means
	// [slog.Default].
	Logger *slog.Logger

	edits bool // it is an Editor's
}

// floodBytes is how much a candidate may print on one output before it is killed.
const floodBytes = 16 << 20

// filled returns c with its defaults, and all paths absolute.
func (c Config) filled() (Config, error) {
	c.File = cmp.Or(c.File, "program")
	c.Timeout = cmp.Or(c.Timeout, 60*time.Second)
	c.CPU = cmp.Or(c.CPU, c.Timeout+time.Second)
	c.Memory = cmp.Or(c.Memory, 4<<30)
	c.Processes = cmp.Or(c.Processes, 256)
	c.OpenFiles = cmp.Or(c.OpenFiles, 1024)
	c.FileBytes = cmp.Or(c.FileBytes, 64<<20)
	c.OutputBytes = cmp.Or(c.OutputBytes, 32<<10)
	c.ResultBytes = cmp.Or(c.ResultBytes, 4<<20)
	c.Env, c.Writable, c.Hide = slices.Clone(c.Env), slices.Clone(c.Writable), slices.Clone(c.Hide)
	c.Caches = slices.Clone(c.Caches)
	c.Args, c.Build = slices.Clone(c.Args), slices.Clone(c.Build)
	c.Run, c.Score = slices.Clone(c.Run), slices.Clone(c.Score)
	if c.Logger == nil {
		c.Logger = slog.Default()
	}
	if err := c.validate(); err != nil {
		return c, err
	}
	c = c.command()
	return c, c.resolve()
}

func (c Config) validate() error {
	if err := c.validateSteps(); err != nil {
		return err
	}
	if c.Base != "" && c.Template != "" {
		return fmt.Errorf("command: Config.Base is %q, and Config.Template %q: give one of them", c.Base, c.Template)
	}
	if c.File != filepath.Base(c.File) || strings.HasPrefix(c.File, ".") {
		return fmt.Errorf("command: Config.File is %q: want a name without folders", c.File)
	}
	for _, v := range []struct {
		name         string
		value, least int64
	}{
		{"Timeout", int64(c.Timeout), int64(time.Millisecond)},
		{"CPU", int64(c.CPU), int64(time.Millisecond)},
		{"Memory", c.Memory, 1 << 20},
		{"Processes", int64(c.Processes), 1},
		{"OpenFiles", int64(c.OpenFiles), 16},
		{"FileBytes", c.FileBytes, 1},
		{"OutputBytes", int64(c.OutputBytes), 2},
		{"ResultBytes", int64(c.ResultBytes), 1},
	} {
		if v.value < v.least {
			return fmt.Errorf("command: Config.%s is %d: need at least %d", v.name, v.value, v.least)
		}
	}
	if err := c.Isolation.Check(); err != nil {
		return fmt.Errorf("command: Config.Isolation: %w", err)
	}
	return nil
}

// resolve finds the commands and the folders, so that missing ones are reported before anything is paid for.
func (c *Config) resolve() error {
	for _, s := range c.commands() {
		if strings.HasPrefix(s.args[0], "{build}") || strings.HasPrefix(s.args[0], "{folder}") {
			continue // an earlier step makes it
		}
		path, err := exec.LookPath(s.args[0])
		if err == nil {
			path, err = filepath.Abs(path)
		}
		if err != nil {
			return fmt.Errorf("command: looking for %s: %w", s.args[0], err)
		}
		s.args[0] = path
	}
	folders := []*string{}
	if c.Template != "" {
		folders = append(folders, &c.Template)
	}
	if c.Base != "" {
		folders = append(folders, &c.Base)
	}
	for i := range c.Writable {
		folders = append(folders, &c.Writable[i])
	}
	for i := range c.Caches {
		folders = append(folders, &c.Caches[i])
	}
	for _, f := range folders {
		var err error
		if *f, err = filepath.Abs(*f); err != nil {
			return fmt.Errorf("command: looking for a folder: %w", err)
		}
		if real, err := filepath.EvalSymlinks(*f); err == nil {
			*f = real
		}
		if info, err := os.Stat(*f); err != nil {
			return fmt.Errorf("command: looking for a folder: %w", err)
		} else if !info.IsDir() {
			return fmt.Errorf("command: %s is not a folder", *f)
		}
	}
	return nil
}

func (c Config) bounds() sandbox.Bounds {
	return sandbox.Bounds{CPU: c.CPU, Memory: c.Memory, FileBytes: c.FileBytes, OpenFiles: c.OpenFiles,
		Processes: c.Processes}
}

// environ returns the environment of a command whose temporary files go to tmp.
func (c Config) environ(tmp string) []string {
	env := []string{
		"PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin",
		"LANG=C.UTF-8",
		"HOME=" + tmp,
		"TMPDIR=" + tmp,
		"TMP=" + tmp,
		"TEMP=" + tmp,
	}
	for _, v := range append([]string{"SYSTEMROOT"}, c.Env...) {
		if strings.Contains(v, "=") {
			env = append(env, v)
		} else if value, ok := os.LookupEnv(v); ok {
			env = append(env, v+"="+value)
		}
	}
	return env
}

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

// Config says how candidates are run. Limits of too little are errors: Timeout and CPU are at least 1 ms,
// Memory 1 MiB, OpenFiles 16, OutputBytes 2, the others 1.
type Config struct {
	// Args are the command and its arguments, where one command is all. It means the same as Run.
	Args []string
	// Build, Run and Score are the commands of up to three steps; a nil one is left out. Run is required, here or in
	// Args. Each step is contained by itself, and begins when every process of the one before
	// it is dead, with an empty working directory and an empty HOME of its own. So a scorer finds nothing of a
	// candidate but what it looks for in {run} and {build}:
	//
	//	Build: []string{"cc", "-O2", "-o", "a.out", "{program}"},
	//	Run:   []string{"{build}/a.out"},
	//	Score: []string{"python3", "/opt/task/score.py", "{run}/answer.txt"},
	//
	// In each argument {program} stands for the path of the candidate's file, {entry} for the name of the function
	// that a [Runner] is asked to run, {folder} for the step's working directory, and {build} and {run} for those
	// of earlier steps, which a later step can only read. The first step finds Template in its working directory,
	// and the candidate's file. Later steps get a fresh copy of the file elsewhere.
	//
	// What Build makes can be executed in later steps. Score reads what Run printed, at most ResultBytes, on its standard
	// input. It finds no links and pipes in {run} and {build}, and sees nothing of Writable. The last
	// step prints the result. A step that fails makes the program invalid, and those after it are left out.
	//
	// {program} may be missing in all only if there is a Template.
	Build, Run, Score []string
	// File is the name of the candidate's file; "" means "program". A compiler may insist on an
	// ending.
	File string
	// Template is a folder that is copied into the working directory of the first step for each candidate, before the
	// candidate's file is put there; "" means that it holds nothing else. Files keep their modes, which
	// candidates cannot change where they are contained: see Build.
	Template string

	// Timeout is the wall time of each step; 0 means 60 s.
	Timeout time.Duration
	// CPU is the processor time of one process; 0 means a second more than Timeout, so that it is
	// always Timeout that a program reaches which loops in one thread.
	CPU time.Duration
	// Memory is the address space of one process in bytes; 0 means 4 GiB.
	Memory int64
	// Processes is how many processes and threads a candidate may have at once; 0 means 256.
	Processes int
	// OpenFiles is the number of open files of one process; 0 means 1024.
	OpenFiles int
	// FileBytes is the size of one file; 0 means 64 MiB.
	FileBytes int64
	// OutputBytes is how much is kept of each of standard output and error, half of it from the
	// end; 0 means 32 KiB. A candidate that prints more than 16 MiB on one of them is ended.
	OutputBytes int
	// ResultBytes is the size of the JSON on standard output; 0 means 4 MiB.
	ResultBytes int

	// Writable are folders, besides the temporary one, that candidates may write to, but Score may not. What one
	// leaves there the next one finds, so a hostile one can spoil them: use them for caches.
	Writable []string
	// Hide names files and folders that no step may read: credentials. They must be there. A file that another takes
	// the place of while a step runs, as rotated credentials do, is hidden only by the folder that it is in.
	// On Linux it is an error at start if neither private mounts nor Landlock can hide them. [isolation.None] hides
	// nothing, nor does another system.
	Hide []string
	// Isolation is how much containment is asked for.
	Isolation isolation.Level
	// Env holds what candidates see of the environment, NAME=value, or NAME for the value that
	// this process has. Besides, PATH is a fixed list of folders, HOME and TMPDIR are a folder for
	// temporary files, and LANG is C.UTF-8.
	Env []string
	// Logger gets a line at start with the mechanisms that are in force, above the level of debugging only if some are not;
	// nil means [slog.Default].
	Logger *slog.Logger
}

// floodBytes is how much a candidate may print on one output before it is ended.
const floodBytes = 16 << 20

// filled returns c with the defaults in place, and all paths absolute.
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

// resolve finds the commands and the folders, so that what is missing is known before anything is
// paid for.
func (c *Config) resolve() error {
	for _, s := range c.commands() {
		if strings.HasPrefix(s.args[0], "{build}") || strings.HasPrefix(s.args[0], "{folder}") {
			continue // it is not there yet
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
	for i := range c.Writable {
		folders = append(folders, &c.Writable[i])
	}
	for _, f := range folders {
		var err error
		if *f, err = filepath.Abs(*f); err != nil {
			return fmt.Errorf("command: looking for a folder: %w", err)
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
	return sandbox.Bounds{CPU: c.CPU, Memory: c.Memory, FileBytes: c.FileBytes, OpenFiles: c.OpenFiles, Processes: c.Processes}
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

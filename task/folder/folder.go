// Package folder makes tasks from folders in the form that OpenEvolve and others share: an initial program, an
// evaluator.py, and optionally a config.yaml.
//
//	pack/
//	  initial_program.py   the program that every search starts from; or initial.py, or initial_prompt.txt; any ending
//	  initial_program/     or its files, where it has several
//	  evaluator.py         evaluate(program_path), or evaluate_stage1 to evaluate_stage3
//	  config.yaml          optional
//
// A program of several files is a tree (package tree): all text files of the folder initial_program, which candidates
// change, add and delete. The path that evaluate is given is that of a folder with the candidate's files.
//
// [Load] makes the task, [Read] only reads the folder. The initial program and the config.yaml are shown to the model,
// so they must not be links that lead out of the folder.
//
// # What config.yaml says
//
// These keys are used, with OpenEvolve's meanings and defaults:
//
//	prompt.system_message         the system message; llm.system_message if that is missing
//	prompt.include_artifacts      whether prompts show a parent's metrics and artifacts: true
//	prompt.max_artifact_bytes     and how many bytes of them: 20480
//	language                      the language, if not the one of the initial program's ending
//	file_suffix                   the ending of candidates' files, if not the initial program's
//	diff_based_evolution          whether replies are diffs: true
//	enforce_evolve_blocks         false lets candidates change what lies outside EVOLVE-BLOCK markers
//	evaluator.timeout             seconds for one call of an evaluate function: 300
//	evaluator.memory_limit_mb     megabytes of memory; the evaluator's own default
//	evaluator.cascade_evaluation  false calls evaluate even if there is an evaluate_stage1: true
//	evaluator.cascade_thresholds  what evaluate_stage1 and 2 have to reach: [0.5, 0.75, 0.9]
//
// Prompts show metrics and artifacts, so with an evaluator that reports its running time no two runs have equal
// prompts. Without prompt.include_artifacts, equal replies make equal runs.
//
// [Read] lists the differences from OpenEvolve.
package folder

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"path/filepath"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/evoalloc/evoalloc/eval"
	"github.com/evoalloc/evoalloc/eval/python"
	"github.com/evoalloc/evoalloc/task"
	"github.com/evoalloc/evoalloc/task/tree"
)

// defaultTimeout is the limit on one call of an evaluate function if config.yaml has none. It is OpenEvolve's.
const defaultTimeout = 300 * time.Second

// defaultSystem is the system message if config.yaml has none.
const defaultSystem = "You improve programs. An evaluator runs each program and gives it a score; higher is better. " +
	"Keep the names, arguments and results of the functions that the evaluator may call, and use only what is installed " +
	"where it runs."

// defaultFeedback is OpenEvolve's limit on the bytes of metrics and artifacts in prompts.
const defaultFeedback = 20 << 10

// A Folder is the contents of a task's folder. Nothing in it has been run.
type Folder struct {
	// Spec is the task without its Evaluator, and may be changed before it goes to [task.New].
	Spec task.Spec
	// Tree is the task without its Evaluator where the initial program is a folder, for [tree.New]; otherwise nil. Spec
	// has no program then.
	Tree *tree.Config
	// Evaluation configures the folder's evaluator.py.
	Evaluation Evaluation
	// Fingerprint is a hash of everything in the folder that decides scores: the Evaluation except its Dir, what
	// Config.Python lets in, and the folder's Python files except the initial program. As far as the folder decides, scores stay valid while the
	// Fingerprint stays the same.
	Fingerprint string
	// Warnings name parts of the folder that have no effect here, one sentence each.
	Warnings []string
}

// An Evaluation configures how the evaluator.py of a folder is run.
type Evaluation struct {
	// Dir is the folder, absolute: on the evaluator's sys.path, and its working directory.
	Dir string
	// Suffix is the ending of candidates' files, with its dot.
	Suffix string
	// Timeout bounds one call of an evaluate function; more than 0.
	Timeout time.Duration
	// Memory bounds an evaluation's memory in bytes; 0 if the folder sets no limit.
	Memory int64
	// NoCascade means that evaluate is called even if there is an evaluate_stage1.
	NoCascade bool
	// Thresholds are the scores that a stage must reach for the next to run. A stage without one is the last.
	Thresholds []float64
	// Files means that a program is several files. An evaluator is given a JSON object with the text of each by its path,
	// and evaluator.py the path of a folder that has them.
	Files bool
}

// Config selects files of a folder, and configures how they are run. The zero value suits most folders.
type Config struct {
	// Name is the task's; "" means the folder's, with "-" for characters that a name may not have.
	Name string
	// Initial is the name of the initial program's file or folder; "" means the only file that there is, and without one
	// the folder initial_program.
	Initial string
	// Settings is the file name of the config.yaml, for folders with several; "" means config.yaml or config.yml, if there
	// is one.
	Settings string

	// Python configures evaluator.py for [Load]. A Timeout or Memory of 0 means the folder's.
	Python python.Config
	// Evaluator makes the task's evaluator; nil means [python.NewEvaluator].
	Evaluator func(context.Context, Evaluation) (eval.Evaluator, error)
	// Logger gets the folder's warnings; nil means [slog.Default].
	Logger *slog.Logger
}

// Read reads the folder dir. It fails if there is no initial program or more than one, no
// evaluator.py, or a config.yaml that says something impossible; the error names the file and, where
// there is one, the line.
//
// Three things differ from OpenEvolve. Without a config.yaml replies are complete programs. EVOLVE-BLOCK markers are
// enforced unless enforce_evolve_blocks is false; OpenEvolve enforces them only if it is true. And the environment is
// not read: "${NAME}" stays as it is. The caller chooses models, keys, databases and the like, so all other keys are
// listed in one warning. A key that resembles a setting has a warning of its own, and so has a file of settings that is
// not read. No warning shows a value, since values may be secret.
func Read(dir string, cfg Config) (*Folder, error) {
	f, err := read(dir, cfg)
	if err != nil {
		return nil, fmt.Errorf("folder: %s: %w", dir, err)
	}
	return f, nil
}

func read(dir string, cfg Config) (*Folder, error) {
	abs, err := filepath.Abs(dir)
	if err != nil {
		return nil, err
	}
	files, err := find(abs, cfg)
	if err != nil {
		return nil, err
	}
	initial := ""
	if files.tree {
		err = checkTree(filepath.Join(abs, files.initial))
	} else {
		initial, err = readFile(abs, files.initial, maxProgram)
	}
	if err != nil {
		return nil, err
	}
	s, err := readSettings(abs, files.settings)
	if err != nil {
		return nil, err
	}
	suffix := suffixOf(files.initial)
	f := &Folder{
		Spec: task.Spec{
			Name:     cmp.Or(cfg.Name, nameOf(abs)),
			Language: cmp.Or(s.language, task.LanguageOf(suffix)),
			System:   cmp.Or(s.system, defaultSystem),
			Initial:  strings.TrimPrefix(initial, "\ufeff"),
			Ext:      suffix,
			Feedback: s.feedback, Diffs: s.diffs, IgnoreMarkers: s.ignoreMarkers,
		},
		Evaluation: Evaluation{Dir: abs, Timeout: s.timeout, Memory: s.memory, NoCascade: s.noCascade,
			Thresholds: s.thresholds},
		Warnings: s.warnings,
	}
	if cfg.Settings == "" {
		f.Warnings = append(f.Warnings, unread(abs, files)...)
	}
	if files.tree {
		f.setTree(filepath.Join(abs, files.initial), s)
		f.Fingerprint, err = fingerprint(f.Evaluation, cfg.Python, files.all, "")
		return f, err
	}
	f.setSuffix(s.suffix)
	if s.ignoreMarkers && strings.Contains(initial, "EVOLVE-BLOCK-START") {
		f.Warnings = append(f.Warnings,
			files.settings+": enforce_evolve_blocks is false: candidates may change what lies outside the EVOLVE-BLOCK markers")
	}
	if strings.TrimSpace(f.Spec.Initial) == "" {
		return nil, errors.New(files.initial + " is empty")
	}
	f.Fingerprint, err = fingerprint(f.Evaluation, cfg.Python, files.all, files.initial)
	return f, err
}

// setSuffix sets the ending of candidates. It ignores ".py", which OpenEvolve's own settings contain by default.
func (f *Folder) setSuffix(suffix string) {
	if suffix != "" && suffix != f.Spec.Ext {
		if suffix == ".py" {
			f.Warnings = append(f.Warnings,
				fmt.Sprintf("file_suffix is .py, but the initial program's is %s, which counts", f.Spec.Ext))
		} else {
			f.Spec.Ext = suffix
		}
	}
	f.Evaluation.Suffix = f.Spec.Ext
}

// nameOf returns a name for the task in the folder.
func nameOf(dir string) string {
	name := strings.Map(func(r rune) rune {
		if unicode.IsLetter(r) || unicode.IsDigit(r) || strings.ContainsRune("-_.", r) {
			return r
		}
		return '-'
	}, filepath.Base(dir))
	name = strings.TrimRight(strings.TrimLeft(name, "-_."), ".")
	for len(name) > 100 {
		_, size := utf8.DecodeLastRuneInString(name)
		name = name[:len(name)-size]
	}
	return cmp.Or(name, "task")
}

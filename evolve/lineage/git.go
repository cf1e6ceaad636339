package lineage

import (
	"bufio"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
)

// plainName is a name that no system and no version of git takes for something else.
var plainName = regexp.MustCompile(`^[A-Za-z0-9_-][A-Za-z0-9._-]{0,99}$`)

// WriteGit writes the run as a stream for git fast-import. Each candidate is a commit, its parents are the commit's
// parents, and its program is a file of that name, "program" for "". An initial program is a root commit. The name is a
// plain one of letters, digits and "._-" that does not begin with a dot.
//
// The commit of a candidate is the ref refs/candidates/NAME, where NAME is [Candidate.Name]. The branch best is the
// best candidate, and arm/K that of arm K. Score, operator and address are in the message, as trailers, too.
//
// The same run gives the same commits, with the same hashes. So does the journal of a run that goes on, for all
// candidates that it has so far. Children without a program are left out.
func (r *Run) WriteGit(w io.Writer, file string) error {
	if file == "" {
		file = "program"
	}
	if !plainName.MatchString(file) {
		return fmt.Errorf("lineage: the file name is %q: need a name of letters, digits, \".\", \"_\" and \"-\" that "+
			"does not begin with a dot", file)
	}
	return r.Without(func(c Candidate) bool { return c.Program == "" }).write(w, oneFile(file))
}

// write writes the run's candidates, each of which has a program.
func (r *Run) write(w io.Writer, of contents) error {
	if len(r.Candidates) == 0 {
		return ErrNoProgram
	}
	s := stream{w: bufio.NewWriterSize(w, 1<<16), run: r, of: of, blobs: make(map[[sha256.Size]byte]int),
		marks: len(r.Candidates)}
	fmt.Fprint(s.w, "feature done\n") // without the done below, git takes a stream that broke off for a bad one
	if err := of.begin(&s); err != nil {
		return err
	}
	for i := range r.Candidates {
		s.commit(i)
	}
	s.branch("best", r.Best())
	for _, arm := range r.arms() {
		s.branch("arm/"+strconv.Itoa(arm), r.bestOf(arm))
	}
	fmt.Fprint(s.w, "done\n")
	return flush(s.w)
}

// contents are what the commits of a run hold.
type contents interface {
	// begin writes what comes before all candidates.
	begin(s *stream) error
	// changes returns the lines that make the files of a candidate from those of parent, nil for the root.
	changes(s *stream, c, parent *Candidate) []string
}

// A oneFile is the name of the file that has a candidate's program.
type oneFile string

func (oneFile) begin(*stream) error { return nil }

func (name oneFile) changes(s *stream, c, _ *Candidate) []string {
	return []string{modify("100644", s.blob(c.Program), string(name))} // in the place of the parent's
}

// ErrNoProgram says that no candidate of a run has a program, so that there is nothing to commit.
var ErrNoProgram = errors.New("lineage: no candidate has a program yet")

// A stream is a run that is being written. The mark of a commit is its candidate's position, counted from 1.
type stream struct {
	w     *bufio.Writer
	run   *Run
	of    contents
	blobs map[[sha256.Size]byte]int // marks of texts
	marks int                       // handed out
	root  int                       // mark of the commit that initial programs follow; 0 if there is none
}

// blob writes a text, unless it is in the stream, and returns its mark.
func (s *stream) blob(text string) int {
	key := sha256.Sum256([]byte(text))
	mark, ok := s.blobs[key]
	if !ok {
		mark = s.mark()
		s.blobs[key] = mark
		fmt.Fprintf(s.w, "blob\nmark :%d\n", mark)
		s.data(text)
	}
	return mark
}

// mark returns a new mark.
func (s *stream) mark() int {
	s.marks++
	return s.marks
}

// data writes text by its length, so that nothing in it is taken for a command.
func (s *stream) data(text string) {
	fmt.Fprintf(s.w, "data %d\n", len(text))
	s.w.WriteString(text)
	s.w.WriteByte('\n')
}

// commit writes the commit of the candidate at position i.
func (s *stream) commit(i int) {
	c := &s.run.Candidates[i]
	var parent *Candidate
	if len(c.Parents) > 0 {
		parent = &s.run.Candidates[c.Parents[0]]
	}
	lines := s.of.changes(s, c, parent)
	s.head("refs/candidates/"+c.Name(), i+1, c.Time, s.run.message(*c))
	if parent == nil && s.root > 0 {
		fmt.Fprintf(s.w, "from :%d\n", s.root)
	}
	for k, p := range c.Parents {
		verb := "merge"
		if k == 0 {
			verb = "from"
		}
		fmt.Fprintf(s.w, "%s :%d\n", verb, p+1)
	}
	for _, line := range lines {
		s.w.WriteString(line)
	}
	s.w.WriteByte('\n')
}

// head writes the beginning of a commit, which is the ref.
func (s *stream) head(ref string, mark int, at time.Time, message string) {
	// Whoever exports a run and whenever they do, the commits are the same ones: nothing of this process is in them.
	by := fmt.Sprintf("evoalloc <evoalloc@localhost> %d +0000", max(at.Unix(), 0))
	fmt.Fprintf(s.w, "commit %s\nmark :%d\nauthor %s\ncommitter %s\n", ref, mark, by, by)
	s.data(message)
}

// modify returns the line of a commit that puts a blob at a path.
func modify(mode string, blob int, path string) string {
	return fmt.Sprintf("M %s :%d %s\n", mode, blob, quoted(path))
}

// quoted returns a path as git reads one: in quotes if it holds what would end it.
func quoted(path string) string {
	if strings.ContainsAny(path, "\"\\\n") {
		return `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`, "\n", `\n`).Replace(path) + `"`
	}
	return path
}

// branch writes a branch that points to the candidate at position i. There is none for -1.
func (s *stream) branch(name string, i int) {
	if i >= 0 {
		fmt.Fprintf(s.w, "reset refs/heads/%s\nfrom :%d\n\n", name, i+1)
	}
}

// message returns the message of a candidate's commit. Its first line begins with the score, which is what a reader of
// git log looks for. Only what is known when the candidate is made is in it: a later child must not change the hash of
// an earlier one.
func (r *Run) message(c Candidate) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s %s", c.score(), c.Name())
	if by := c.operator(); by != "" {
		fmt.Fprintf(&b, " %s", by)
	}
	b.WriteString("\n\n")
	if c.initial() {
		for _, name := range slices.Sorted(maps.Keys(r.Fingerprint)) {
			fmt.Fprintf(&b, "    %s = %s\n", line(name), line(r.Fingerprint[name]))
		}
		b.WriteString("\n")
	}
	if reason := line(c.Reason); reason != "" {
		fmt.Fprintf(&b, "Reason: %s\n\n", reason)
	}
	for _, t := range c.trailers() {
		fmt.Fprintf(&b, "%s: %s\n", t[0], t[1])
	}
	return b.String()
}

// trailers returns the names and values of a commit's trailers. Those that a candidate does not have are left out.
func (c Candidate) trailers() [][2]string {
	out := [][2]string{{"Candidate", c.Name()}}
	if c.Arm >= 0 {
		out = append(out, [2]string{"Arm", strconv.Itoa(c.Arm)})
	}
	if !c.initial() {
		out = append(out, [2]string{"Pull", strconv.Itoa(c.Pull)}, [2]string{"Step", strconv.Itoa(c.Step)},
			[2]string{"Index", strconv.Itoa(c.Index)}, [2]string{"ID", strconv.Itoa(c.ID)}, [2]string{"Operator", c.operator()})
	}
	for _, kind := range slices.Sorted(maps.Keys(c.Labels)) {
		out = append(out, [2]string{"Label", line(kind) + "=" + line(c.Labels[kind])})
	}
	for _, id := range c.Unknown {
		out = append(out, [2]string{"Unknown-Parent", strconv.Itoa(id)})
	}
	out = append(out, [2]string{"Valid", strconv.FormatBool(c.Valid)})
	if c.Valid {
		out = append(out, [2]string{"Score", strconv.FormatFloat(c.Score, 'g', -1, 64)})
	}
	if c.Key != "" {
		out = append(out, [2]string{"Program", line(c.Key)})
	}
	return out
}

package timing

import (
	"context"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"github.com/evoalloc/evoalloc/eval"
	"github.com/evoalloc/evoalloc/internal/claim"
	"github.com/evoalloc/evoalloc/internal/sandbox"
)

// A side is one of the two processes of an evaluation. Outside a call it is stopped. One goroutine uses it.
type side struct {
	process *sandbox.Process
	words   *os.File // our messages and the process's
	shared  []byte   // shared memory: inputs in the first half, outputs in the second
	half    int
	in, out int             // bytes of the last input and output
	answer  []byte          // a copy of the last output
	called  time.Duration   // wall time of its calls
	watched []int           // processors watched for other processes; nil means none
	used    time.Duration   // processor time when it was last stopped
	stopped time.Time       // when it was last stopped
	made    string          // its temporary folder
	release func()          // of the claim on it
	scratch string          // the folder with links in its path resolved
	stderr  sandbox.Capture // read it only when printed is done
	printed sync.WaitGroup
}

// descriptor is that of the shared memory in a process: its standard input carries the words, and 3 is the gate's.
const descriptor = 4

// start starts an image, and stops it when it has reported that its program is loaded.
func (e *evaluator) start(ctx context.Context, image Image) (*side, error) {
	made, release, err := claim.Folder(scratchName)
	if err != nil {
		return nil, fmt.Errorf("timing: %w", err)
	}
	s := &side{half: pages(e.cfg.Bytes), made: made, release: release}
	s.stderr.Keep = 8 << 10
	if s.scratch, err = filepath.EvalSymlinks(made); err == nil {
		err = s.furnish(image)
	}
	if err == nil {
		err = s.launch(e, image)
	}
	if err == nil && len(e.cpus()) > 0 {
		_ = s.pin(e.cpus()) // so that a program sees them while it loads; greet pins again, and checks
	}
	if err == nil {
		err = s.greet(ctx, e.cpus(), e.cfg.Load)
	}
	if e.cfg.Clock == Elapsed {
		s.watched = e.cpus()
	}
	if err != nil {
		return nil, errors.Join(s.explain(err), s.close())
	}
	return s, nil
}

func pages(n int) int {
	size := os.Getpagesize()
	return (n + size - 1) / size * size
}

// furnish writes the image's files.
func (s *side) furnish(image Image) error {
	err := errors.Join(os.Mkdir(s.work(), 0o700), os.Mkdir(filepath.Join(s.scratch, "tmp"), 0o700))
	for name, content := range image.Files {
		err = errors.Join(err, os.WriteFile(filepath.Join(s.work(), filepath.Base(name)), content, 0o700))
	}
	if err != nil {
		return fmt.Errorf("timing: writing what is to be run: %w", err)
	}
	return nil
}

func (s *side) work() string { return filepath.Join(s.scratch, "work") }

// launch starts the process with its words, its memory and its limits.
func (s *side) launch(e *evaluator, image Image) error {
	memory, err := s.share()
	if err != nil {
		return fmt.Errorf("timing: making shared memory: %w", err)
	}
	defer memory.Close()
	theirs, err := s.pair()
	if err != nil {
		return fmt.Errorf("timing: making sockets: %w", err)
	}
	defer theirs.Close()
	r, w, err := os.Pipe()
	if err != nil {
		return fmt.Errorf("timing: making a pipe: %w", err)
	}
	defer w.Close()
	s.printed.Go(func() { s.read(r) })
	cmd := exec.Command(image.Args[0], image.Args[1:]...)
	cmd.Dir, cmd.Env = s.work(), s.environ(e, image)
	cmd.Stdin, cmd.Stdout, cmd.Stderr, cmd.ExtraFiles = theirs, w, w, []*os.File{memory}
	calls := 2*e.cfg.Pairs + e.cfg.WarmUps + maxOthers
	bounds := sandbox.Bounds{CPU: e.cfg.Load + time.Duration(calls*e.cfg.Cores)*e.cfg.Timeout, Memory: e.cfg.Memory,
		FileBytes: 16 << 20,
		OpenFiles: 256, Processes: 128, Itself: true}
	if s.process, err = e.machine.plan.Contain(cmd, bounds, s.scratch); err != nil {
		return fmt.Errorf("timing: starting %s: %w", image.Args[0], err)
	}
	return nil
}

// maxOthers is the number of untimed calls that the processor time limit allows for.
const maxOthers = 1000

// environ tells the process its memory, the filter with which it renounces other processes, and the number of threads
// for libraries.
func (s *side) environ(e *evaluator, image Image) []string {
	tmp := filepath.Join(s.scratch, "tmp")
	env := []string{"PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin", "LANG=C.UTF-8",
		"HOME=" + tmp, "TMPDIR=" + tmp,
		fmt.Sprintf("TIMING_SHARED=%d", descriptor), fmt.Sprintf("TIMING_HALF=%d", s.half),
		"TIMING_ALONE=" + hex.EncodeToString(e.machine.plan.Timed())}
	for _, library := range []string{"OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "BLIS_NUM_THREADS",
		"GOMAXPROCS"} {
		env = append(env, fmt.Sprintf("%s=%d", library, e.cfg.Cores))
	}
	return append(env, image.Env...)
}

// share makes the memory. Its size is sealed: if a process could shrink it, our next access would kill us.
func (s *side) share() (*os.File, error) {
	fd, err := unix.MemfdCreate("timing", unix.MFD_CLOEXEC|unix.MFD_ALLOW_SEALING)
	if err != nil {
		return nil, os.NewSyscallError("memfd_create", err)
	}
	f := os.NewFile(uintptr(fd), "shared memory")
	err = f.Truncate(int64(2 * s.half))
	if err == nil {
		_, err = unix.FcntlInt(f.Fd(), unix.F_ADD_SEALS, unix.F_SEAL_SHRINK|unix.F_SEAL_GROW|unix.F_SEAL_SEAL)
	}
	if err == nil {
		s.shared, err = unix.Mmap(fd, 0, 2*s.half, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_SHARED)
	}
	if err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return f, nil
}

// pair makes the sockets for words, and returns the process's.
func (s *side) pair() (theirs *os.File, err error) {
	syscall.ForkLock.RLock()
	fds, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_SEQPACKET, 0)
	if err == nil {
		unix.CloseOnExec(fds[0])
		unix.CloseOnExec(fds[1])
	}
	syscall.ForkLock.RUnlock()
	if err != nil {
		return nil, os.NewSyscallError("socketpair", err)
	}
	err = unix.SetNonblock(fds[0], true) // so that deadlines work
	s.words = os.NewFile(uintptr(fds[0]), "words")
	return os.NewFile(uintptr(fds[1]), "words"), err
}

// read keeps the beginning of the process's output and discards the rest.
func (s *side) read(r *os.File) {
	defer r.Close()
	buf := make([]byte, 32<<10)
	for {
		n, err := r.Read(buf)
		s.stderr.Take(buf[:n])
		if err != nil {
			return
		}
	}
}

// greet waits for the word that the program is loaded, stops the process, and pins it to the processors cpus. Under the
// clock CPU pinning only improves the measurements, so an empty cpus is fine.
func (s *side) greet(ctx context.Context, cpus []int, limit time.Duration) error {
	if err := s.listen(ctx, limit); err != nil {
		return err
	}
	if err := s.stop(); err != nil {
		return err
	}
	if err := s.quiet(); err != nil {
		return err
	}
	if len(cpus) == 0 {
		return nil
	}
	return s.pin(cpus)
}

// call has the process answer an input, and stops it when it reports so. The duration is all time that the process used
// since the last settle: work before the request or after the report counts too. On several processors the processor
// time may exceed the wall time, and is then an upper bound of the time spent computing.
func (s *side) call(ctx context.Context, in []byte, out int, limit time.Duration) (duration, error) {
	s.in, s.out = len(in), out
	copy(s.shared, in)
	output := s.output()
	for i := range output {
		output[i] = 0xA5 // so that an earlier output does not pass for an answer
	}
	if err := s.ask(uint64(len(in)), uint64(out)); err != nil {
		return duration{}, err
	}
	before, busy := s.used, atWork(s.watched)
	asked, err := processorTime(s.process.Pid())
	if err != nil {
		return duration{}, err
	}
	begin := time.Now()
	if err := unix.Kill(s.process.Pid(), unix.SIGCONT); err != nil {
		return duration{}, s.ended()
	}
	heard := s.listen(ctx, limit)
	if s.called += time.Since(begin); heard != nil {
		return duration{}, heard
	}
	answered, err := processorTime(s.process.Pid())
	took := duration{elapsed: asked - before + time.Since(begin), strangers: atWork(s.watched) - busy - (answered - asked)}
	if err == nil {
		err = s.stop()
	}
	if err != nil {
		return duration{}, err
	}
	took.cpu, took.elapsed = s.used-before, took.elapsed+s.used-answered
	return took, s.quiet()
}

// askTime bounds how long a request may wait for room in the socket.
const askTime = 3 * time.Second

// ask sends the lengths of the input and the output. If a process never reads its requests, the socket fills up.
func (s *side) ask(in, out uint64) error {
	_ = s.words.SetWriteDeadline(time.Now().Add(askTime)) // deadlines work here
	_, err := s.words.Write(binary.LittleEndian.AppendUint64(binary.LittleEndian.AppendUint64(nil, in), out))
	switch {
	case errors.Is(err, os.ErrDeadlineExceeded):
		return fault("did not read what it was asked")
	case err != nil:
		return s.ended()
	}
	return nil
}

// listen waits for one word: an empty line means done, any other text is a fault.
func (s *side) listen(ctx context.Context, limit time.Duration) error {
	_ = s.words.SetReadDeadline(time.Now().Add(limit)) // deadlines work here
	stop := context.AfterFunc(ctx, func() { _ = s.words.SetReadDeadline(time.Unix(1, 0)) })
	defer stop()
	word := make([]byte, 4<<10)
	n, err := s.words.Read(word)
	switch {
	case ctx.Err() != nil:
		return fmt.Errorf("timing: calling a program: %w", ctx.Err())
	case errors.Is(err, os.ErrDeadlineExceeded):
		return fault("ran longer than %v", limit)
	case err != nil:
		return s.ended()
	case n != 1 || word[0] != '\n':
		return fault("%s", sandbox.Relative(string(word[:n]), s.work()))
	}
	return nil
}

// quiet returns an error if the process sent a word unasked.
func (s *side) quiet() error {
	raw, err := s.words.SyscallConn()
	if err != nil {
		return fmt.Errorf("timing: looking for words: %w", err)
	}
	n := 0
	if err := raw.Control(func(fd uintptr) {
		n, _, _ = unix.Recvfrom(int(fd), make([]byte, 1), unix.MSG_PEEK|unix.MSG_DONTWAIT)
	}); err != nil {
		return fmt.Errorf("timing: looking for words: %w", err)
	}
	if n >= 0 {
		return fault("answered before it was asked")
	}
	return nil
}

func (s *side) input() []byte  { return s.shared[:s.in] }
func (s *side) output() []byte { return s.shared[s.half : s.half+s.out] }

// copied returns a copy of the output, valid until the next call. A process that has itself woken could otherwise
// change the output during the check.
func (s *side) copied() []byte {
	s.answer = append(s.answer[:0], s.output()...)
	return s.answer
}

func (s *side) ended() error { return perhaps("ended before it had answered") }

// explain adds the program's output to its fault. It kills the process first.
func (s *side) explain(err error) error {
	bad, ok := errors.AsType[*eval.ProgramError](err)
	if !ok || s.process == nil {
		return err
	}
	s.process.Kill()
	_ = s.process.Wait() // fails because it was killed
	s.printed.Wait()
	if text := sandbox.Relative(s.stderr.String(), s.work()); text != "" {
		bad.Artifacts = map[string]string{"stderr": text}
	}
	return err
}

// close ends the process and removes its files.
func (s *side) close() error {
	if s.process != nil {
		s.process.Kill()
		_ = s.process.Wait() // fails because it was killed
		s.printed.Wait()
	}
	if s.words != nil {
		_ = s.words.Close()
	}
	if s.shared != nil {
		_ = unix.Munmap(s.shared)
	}
	defer s.release()
	return sandbox.Remove(s.made)
}

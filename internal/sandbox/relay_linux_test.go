package sandbox

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/evoalloc/evoalloc/eval/isolation"
)

// inside are what this program does when it is started as a contained process: by name, with an argument. What they print
// is what they found.
var inside = map[string]func(argument string) string{
	"reach":   reach,
	"serve":   serveInside,
	"many":    many,
	"half":    half,
	"abandon": abandon,
}

// TestInside is the program of contained processes, and no test.
func TestInside(t *testing.T) {
	if name, argument, ok := strings.Cut(os.Getenv("EVOALLOC_INSIDE"), " "); ok {
		fmt.Println(inside[name](argument))
		os.Exit(0)
	}
}

// relayed starts this program under the plan, with a relay to a socket that serve is asked for each connection of.
func relayed(t *testing.T, p *Plan, serve func(net.Conn), do, argument string) (string, *Relay) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "s")
	l, err := net.Listen("unix", path)
	if err != nil {
		t.Fatal(err)
	}
	var served sync.WaitGroup
	served.Go(func() {
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			served.Go(func() {
				defer conn.Close()
				serve(conn)
			})
		}
	})
	r, err := p.NewRelay(path, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		r.Close()
		l.Close()
		served.Wait()
		if n := len(r.conns); n > 0 {
			t.Errorf("%d connections are left", n)
		}
	}()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	cmd := exec.Command(self, "-test.run", "^TestInside$")
	cmd.Dir, cmd.Env = t.TempDir(), []string{"EVOALLOC_INSIDE=" + do + " " + r.Address() + " " + argument,
		outsideNet + "=" + networkID()}
	cmd.Stdout, cmd.Stderr, cmd.WaitDelay = &out, &out, time.Minute
	b := bounds
	b.Memory, b.OpenFiles, b.Processes = 8<<30, 1024, 100
	process, err := p.Through(r).Contain(cmd, b, cmd.Dir)
	if err != nil {
		t.Fatal(err)
	}
	defer process.Kill()
	if err := process.Wait(); err != nil {
		t.Errorf("%s: %v: %.2000s", do, err, out.String())
	}
	return strings.TrimSpace(out.String()), r
}

// echo sends back all that comes, when the other end has sent all.
func echo(conn net.Conn) {
	text, _ := io.ReadAll(conn)
	_, _ = conn.Write(append(text, " back"...))
}

// relayFamilies are what may be missing beside the network namespace.
var relayFamilies = map[string][]isolation.Mechanism{"nothing": nil, "mounts": {MountNS}, "landlock": {Landlock},
	"seccomp": {Seccomp},
	"pids":    {PIDNS}, "all else": {PIDNS, IPCNS, MountNS, Landlock, Seccomp}}

// A contained process reaches the relay and, whatever it tries, nothing else. Without seccomp there are sockets of other
// kinds, which reach nothing but what has a path.
func TestRelayReachesOneSocket(t *testing.T) {
	dir := t.TempDir()
	tcp, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer tcp.Close()
	six, err := net.Listen("tcp", "[::1]:0")
	if err == nil {
		defer six.Close()
	}
	all := []string{"tcp " + tcp.Addr().String(), "tcp4 0.0.0.0:" + port(tcp.Addr()), "tcp 127.0.0.2:80", "tcp6 [::1]:80",
		"tcp6 [::ffff:127.0.0.1]:" + port(tcp.Addr()), "tcp 192.0.2.1:9", "tcp 169.254.169.254:80", "tcp6 [fe80::1%lo]:80"}
	if six != nil {
		all = append(all, "tcp6 "+six.Addr().String())
	}
	udp, err := net.ListenPacket("udp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer udp.Close()
	if addresses, err := net.InterfaceAddrs(); err == nil {
		for _, a := range addresses {
			if ip, _, err := net.ParseCIDR(a.String()); err == nil && ip.IsGlobalUnicast() {
				all = append(all, "tcp "+net.JoinHostPort(ip.String(), port(tcp.Addr())))
			}
		}
	}
	abstract := fmt.Sprintf("@evoalloc-relay-%d", os.Getpid())
	for _, address := range []string{filepath.Join(dir, "s"), abstract} {
		l, err := net.Listen("unix", address)
		if err != nil {
			t.Fatal(err)
		}
		defer l.Close()
		all = append(all, "unix "+address)
	}
	for _, address := range []string{filepath.Join(dir, "d"), abstract} {
		l, err := net.ListenPacket("unixgram", address)
		if err != nil {
			t.Fatal(err)
		}
		defer l.Close()
		all = append(all, "pair "+address)
	}
	for family, ms := range relayFamilies {
		t.Run("without "+family, func(t *testing.T) {
			p := planWithout(t, ms)
			if p.CanRelay() != nil {
				t.Skip(p.missing[NetNS])
			}
			out, _ := relayed(t, p, echo, "reach", strings.Join(append(all, "udp "+udp.LocalAddr().String()), " "))
			got := slices.DeleteFunc(strings.Split(out, "\n"), func(line string) bool {
				// A name of a file is none of a network.
				return !p.has(Seccomp) && (strings.HasPrefix(line, "unix /") || strings.HasPrefix(line, "pair /") ||
					strings.HasPrefix(line, "socket "))
			})
			if !slices.Equal(got, []string{"relay: hello back"}) {
				t.Errorf("reached %q", got)
			}
			// The first that comes is the test's own: what a process sent before would come before it.
			own, err := net.Dial("udp", udp.LocalAddr().String())
			if err != nil {
				t.Fatal(err)
			}
			defer own.Close()
			if _, err := own.Write([]byte("own")); err != nil {
				t.Fatal(err)
			}
			if err := udp.SetReadDeadline(time.Now().Add(time.Minute)); err != nil {
				t.Fatal(err)
			}
			datagram := make([]byte, 9)
			if n, _, err := udp.ReadFrom(datagram); err != nil || string(datagram[:n]) != "own" {
				t.Errorf("the datagram %q came, %v", datagram[:n], err)
			}
		})
	}
}

func port(a net.Addr) string {
	_, p, _ := net.SplitHostPort(a.String())
	return p
}

// reach tries all it can, and returns what went through.
func reach(argument string) string {
	words := strings.Fields(argument)
	through := []string{"relay: " + ask(words[0], "hello")}
	if networkID() == os.Getenv(outsideNet) {
		return "in the network of this machine, where some of this would do harm"
	}
	found := func(ok bool, what string) {
		if ok {
			through = append(through, what)
		}
	}
	for i := 1; i+1 < len(words); i += 2 {
		network, address := words[i], words[i+1]
		switch network {
		case "pair":
			found(sendFromPair(address) == nil, "pair "+address)
		case "udp": // the other side knows whether one came
			if conn, err := net.Dial(network, address); err == nil {
				_, _ = conn.Write([]byte("x"))
			}
		default:
			conn, err := net.DialTimeout(network, address, 3*time.Second)
			found(err == nil, network+" "+address)
			_ = conn
		}
	}
	for _, s := range [][3]int{{unix.AF_PACKET, unix.SOCK_RAW, 0x300}, {unix.AF_INET, unix.SOCK_RAW, unix.IPPROTO_ICMP},
		{unix.AF_NETLINK, unix.SOCK_RAW, unix.NETLINK_ROUTE},
		{unix.AF_INET, unix.SOCK_DGRAM, 0}, {unix.AF_INET6, unix.SOCK_STREAM, 0}, {unix.AF_UNIX, unix.SOCK_STREAM, 0},
		{unix.AF_UNIX, unix.SOCK_DGRAM, 0},
		{unix.AF_VSOCK, unix.SOCK_STREAM, 0}, {unix.AF_ALG, unix.SOCK_SEQPACKET, 0},
		{unix.AF_INET, unix.SOCK_STREAM, unix.IPPROTO_MPTCP}, {unix.AF_INET, unix.SOCK_STREAM, unix.IPPROTO_SCTP}} {
		fd, err := unix.Socket(s[0], s[1], s[2])
		found(err == nil, fmt.Sprintf("socket %v", s))
		if err == nil && s[0] == unix.AF_NETLINK {
			found(newLink(fd) == nil, "makes an interface")
		}
		if err == nil && s[1] == unix.SOCK_RAW && s[0] != unix.AF_NETLINK {
			through = append(through, fmt.Sprintf("raw %v", s))
		}
	}
	fd, err := unix.Socket(unix.AF_INET, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, unix.IPPROTO_TCP)
	found(err != nil, "no TCP")
	lo, _ := unix.NewIfreq("lo")
	lo.SetUint16(0)
	found(unix.IoctlIfreq(fd, unix.SIOCSIFFLAGS, lo) == nil, "takes loopback down")
	found(unix.Bind(fd, &unix.SockaddrInet4{Port: 80, Addr: [4]byte{127, 0, 0, 1}}) == nil, "takes the relay's address")
	_, err = net.LookupHost("example.com")
	found(err == nil, "resolves")
	return strings.Join(through, "\n")
}

// outsideNet is the variable with the network namespace of this machine.
const outsideNet = "EVOALLOC_OUTSIDE_NET"

// networkID returns the network namespace of this process.
func networkID() string {
	name, err := os.Readlink("/proc/self/ns/net")
	if err != nil {
		return os.Getenv(outsideNet) // it cannot be told apart
	}
	return name
}

// sendFromPair sends to a socket by its name from one of a pair, which a process may make.
func sendFromPair(address string) error {
	pair, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_DGRAM, 0)
	if err != nil {
		return err
	}
	return unix.Sendto(pair[0], []byte("x"), 0, &unix.SockaddrUnix{Name: address})
}

// newLink asks for a new interface, and returns the error in the answer.
func newLink(fd int) error {
	request := make([]byte, 32)
	copy(request, []byte{32, 0, 0, 0, unix.RTM_NEWLINK, 0, unix.NLM_F_REQUEST | unix.NLM_F_ACK, 6})
	if _, err := unix.Write(fd, request); err != nil {
		return err
	}
	answer := make([]byte, 4096)
	if n, err := unix.Read(fd, answer); err != nil || n < 20 {
		return errors.New("no answer")
	}
	if answer[16] != 0 {
		return errors.New("refused")
	}
	return nil
}

// ask sends text to the relay and returns what comes back.
func ask(address, text string) string {
	conn, err := net.Dial("tcp", address)
	if err != nil {
		return err.Error()
	}
	defer conn.Close()
	if _, err := conn.Write([]byte(text)); err != nil {
		return err.Error()
	}
	if err := conn.(*net.TCPConn).CloseWrite(); err != nil {
		return err.Error()
	}
	back, err := io.ReadAll(conn)
	if err != nil {
		return err.Error()
	}
	return string(back)
}

// A process may have servers of its own, which programs under test need.
func TestRelayedProcessHasServers(t *testing.T) {
	p := planWithout(t, nil)
	if p.CanRelay() != nil {
		t.Skip(p.missing[NetNS])
	}
	if out, _ := relayed(t, p, echo, "serve", ""); out != "own back" {
		t.Error(out)
	}
}

func serveInside(string) string {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err.Error()
	}
	go func() {
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			echo(conn)
			conn.Close()
		}
	}()
	return ask("localhost:"+port(l.Addr()), "own")
}

// More connections than are forwarded at once wait for their turn; those that end early or are never read are in nobody's
// way, and end with the process.
func TestRelayForwards(t *testing.T) {
	p := planWithout(t, nil)
	if p.CanRelay() != nil {
		t.Skip(p.missing[NetNS])
	}
	if out, _ := relayed(t, p, echo, "many", ""); out != "300 came back" {
		t.Error(out)
	}
	var conns atomic.Int32
	came := make(chan string, 1)
	halves := func(conn net.Conn) { // answers although nothing more is read, and then only reads
		if conns.Add(1) > 1 { // tells what came of the first
			_, _ = conn.Write([]byte(<-came))
			return
		}
		_, _ = conn.Write([]byte("first"))
		_ = conn.(*net.UnixConn).CloseWrite()
		text, _ := io.ReadAll(conn)
		came <- string(text)
	}
	if out, _ := relayed(t, p, halves, "half", ""); out != "first second" {
		t.Errorf("%q", out)
	}
	var mu sync.Mutex
	cut, most := 0, 0
	before := descriptors()
	floods := func(conn net.Conn) { // until the other end is gone
		buf := make([]byte, 1<<20)
		for {
			mu.Lock()
			most = max(most, descriptors())
			mu.Unlock()
			if _, err := conn.Write(buf); err != nil {
				mu.Lock()
				cut++
				mu.Unlock()
				return
			}
		}
	}
	if out, _ := relayed(t, p, floods, "abandon", ""); out != "left open" || cut != 20 {
		t.Errorf("%q, %d connections were cut", out, cut)
	}
	if most > before+3*20+30 {
		t.Errorf("20 connections took %d descriptors", most-before)
	}
}

// descriptors returns how many this process has open.
func descriptors() int {
	all, _ := os.ReadDir("/proc/self/fd")
	return len(all)
}

func many(argument string) string {
	address := strings.Fields(argument)[0]
	var all sync.WaitGroup
	var mu sync.Mutex
	n, other := 0, ""
	for i := range 300 {
		all.Go(func() {
			text := strings.Repeat(fmt.Sprint(i), 5000)
			back := ask(address, text)
			mu.Lock()
			defer mu.Unlock()
			if back == text+" back" {
				n++
			} else {
				other = back[:min(len(back), 200)]
			}
		})
	}
	all.Wait()
	return strings.TrimSpace(fmt.Sprint(n, " came back ", other))
}

func half(argument string) string {
	conn, err := net.Dial("tcp", strings.Fields(argument)[0])
	if err != nil {
		return err.Error()
	}
	text, err := io.ReadAll(conn)
	if err != nil {
		return err.Error()
	}
	if _, err = conn.Write([]byte("second")); err != nil {
		return err.Error()
	}
	if err := conn.Close(); err != nil {
		return err.Error()
	}
	conn, err = net.Dial("tcp", strings.Fields(argument)[0])
	if err != nil {
		return err.Error()
	}
	came, err := io.ReadAll(conn)
	if err != nil {
		return err.Error()
	}
	return string(text) + " " + string(came)
}

// abandon leaves connections open that it does not read.
func abandon(argument string) string {
	for range 20 {
		conn, err := net.Dial("tcp", strings.Fields(argument)[0])
		if err != nil {
			return err.Error()
		}
		if _, err := conn.Read(make([]byte, 1)); err != nil {
			return err.Error()
		}
		abandoned = append(abandoned, conn)
	}
	return "left open"
}

var abandoned []net.Conn // so that no finalizer closes them

// Without a network namespace there is no relay, and no network either. With isolation.None there is one of this machine.
func TestRelayNeedsANamespace(t *testing.T) {
	p := planWithout(t, []isolation.Mechanism{NetNS})
	if _, err := p.NewRelay("/s", 0); err == nil || !strings.Contains(err.Error(),
		"network namespace, which is missing (left out)") {
		t.Errorf("got %v", err)
	}
	none := planWith(t, isolation.None, Mechanisms())
	if out, r := relayed(t, none, echo, "many", ""); out != "300 came back" {
		t.Errorf("%s: %q", r.Address(), out)
	} else if conn, err := net.Dial("tcp", r.Address()); err == nil {
		conn.Close()
		t.Errorf("%s still listens", r.Address())
	}
	r, err := planWithout(t, nil).NewRelay("/s", 0)
	if err != nil {
		t.Skip(err)
	}
	r.Close() // of a process that was not started
	if l, err := net.Listen("tcp", "127.0.0.1:0"); err != nil || r.serve(l) == nil {
		t.Errorf("a closed relay serves, %v", err)
	}
}

"""An agent that asks a model in either dialect, streamed or not, and writes its answer into answer.txt.

What it is told to do, besides, are the words on its command line: see the branches below.
"""
import json
import os
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request


def post(url, body, headers):
    req = urllib.request.Request(url, json.dumps(body).encode(), {"Content-Type": "application/json", **headers})
    return urllib.request.urlopen(req, timeout=60)


def openai(prompt, stream):
    body = {"model": "x", "messages": [{"role": "user", "content": prompt}], "stream": stream}
    with post(os.environ["OPENAI_BASE_URL"] + "/chat/completions", body, {"Authorization": "Bearer " + os.environ["OPENAI_API_KEY"]}) as r:
        if not stream:
            return json.load(r)["choices"][0]["message"]["content"]
        text = ""
        for line in r:
            line = line.decode().strip()
            if line.startswith("data: {"):
                for c in json.loads(line[6:])["choices"]:
                    text += c["delta"].get("content") or ""
        return text


def anthropic(prompt, stream):
    body = {"model": "x", "max_tokens": 100, "messages": [{"role": "user", "content": prompt}], "stream": stream}
    with post(os.environ["ANTHROPIC_BASE_URL"] + "/v1/messages", body,
              {"x-api-key": os.environ["ANTHROPIC_API_KEY"], "anthropic-version": "2023-06-01"}) as r:
        if not stream:
            return "".join(b["text"] for b in json.load(r)["content"])
        text = ""
        for line in r:
            line = line.decode().strip()
            if line.startswith("data: {"):
                text += json.loads(line[6:]).get("delta", {}).get("text", "")
        return text


def refused(f):
    try:
        f()
    except Exception:  # whatever it is
        return
    sys.exit("it worked: " + sys.argv[1])


def connect(host, port):
    socket.create_connection((host, port), timeout=2).close()


words = sys.argv[1:]
prompt = sys.stdin.read()
assert "Write a large number." in prompt, prompt
assert "patterns may be changed, made or deleted: *.txt. These are frozen all the same: test.txt." in prompt, prompt
number = 0
if "many" in words:  # goes on asking, whatever it is told
    for i in range(1000):
        try:
            number = int(openai("n%d" % i, False))
        except urllib.error.HTTPError as e:
            assert e.code != 429 and e.code < 500, e.code
            time.sleep(0.01)
        open("answer.txt", "w").write("%d\n" % number)
    sys.exit("nothing ended it")
if "where" in words:  # asks with all that it finds
    for i in range(4):
        found = subprocess.run("pwd; ls -la --full-time . $HOME $HOME/earlier; ls -l --full-time ..; env | sort", shell=True, capture_output=True, text=True)
        number = int(openai("n%d\n" % i + found.stdout, False))
    open("answer.txt", "w").write("%d\n" % number)
    sys.exit()
if "forks" in words:  # leaves a process that asks on and writes
    subprocess.Popen([sys.executable, __file__, "many"], stdin=subprocess.PIPE, start_new_session=True).stdin.write(prompt.encode())
if "key" in words:  # looks for the real key
    found = [k for k, v in os.environ.items() if "sk-real" in v]
    for pid in os.listdir("/proc"):
        try:
            if b"sk-real" in open("/proc/%s/environ" % pid, "rb").read() or b"sk-real" in open("/proc/%s/cmdline" % pid, "rb").read():
                found.append(pid)
        except OSError:
            pass
    if found:
        sys.exit("the key is in %s" % found)
if "network" in words:
    port = int(os.environ["OPENAI_BASE_URL"].split(":")[2].split("/")[0])
    refused(lambda: connect("127.0.0.1", port + 1))
    refused(lambda: connect("127.0.0.1", int(words[-1])))  # a server of the host
    refused(lambda: connect("192.0.2.1", 80))
    refused(lambda: socket.getaddrinfo("example.com", 80))
if "terminal" in words:
    import pty
    pid, fd = pty.fork()
    if pid == 0:
        os.execvp("sh", ["sh", "-c", "tty && test -t 0 && exit 7"])
    time.sleep(0.1)
    assert os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == 7 and os.read(fd, 100).startswith(b"/dev/pts/"), "no terminal"
if "outside" in words:
    refused(lambda: open("/etc/evoalloc-was-here", "w"))
    refused(lambda: open(os.path.expanduser("~root/evoalloc-was-here"), "w"))
    os.symlink("/etc/passwd", "link.txt")
if "earlier" in words:
    home = os.path.expanduser("~/earlier/")
    assert "folder earlier" in prompt, prompt
    assert os.listdir(home) == ["0"] and open(home + "0/score").read() == "0.000000\n", os.listdir(home)
    assert open(home + "0/program").read().startswith("base "), open(home + "0/program").read()
    open(home + "0/score", "w").write("9\n")  # its own copy
if "stray" in words:  # leaves files that are none of the program
    for name in "NOTES.md", ".aider.chat.history.md", "made.log", "new.py":
        open(name, "w").write("x\n")
if "frozen" in words:
    open("test.txt", "w").write("thawed\n")
for ask in openai, anthropic:
    for stream in False, True:
        number += int(ask("%s %s" % (ask.__name__, stream), stream))
if "idle" in words:
    print("I may not write files.")
    sys.exit("denied")
open("answer.txt", "w").write("%d\n" % number)
if "fails" in words:
    sys.exit(3)
if "usage" in words:
    print(json.dumps({"total_cost_usd": 1e300, "usage": {"input_tokens": -5, "output_tokens": 7}, "result": "done"}))

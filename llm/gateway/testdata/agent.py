"""An agent that is a program of its own: it knows the gateway from its environment, and both dialects from their
documentation. MODE says how it behaves; it prints what it got as JSON."""

import json
import os
import socket
import sys
import threading
import time
import urllib.error
import urllib.request

TOOL = {"type": "object", "properties": {"path": {"type": "string"}, "text": {"type": "string"}}}


def send(url, key, body, timeout=60, headers=None):
    """Returns the status and the open answer."""
    request = urllib.request.Request(url, json.dumps(body).encode(), {
        "Content-Type": "application/json", "Authorization": "Bearer " + key, "X-Api-Key": key,
        "anthropic-version": "2023-06-01", **(headers or {}),
    })
    try:
        return 200, urllib.request.urlopen(request, timeout=timeout)
    except urllib.error.HTTPError as e:
        return e.code, e


def events(answer):
    kind = ""
    for line in answer:
        line = line.decode().rstrip("\n")
        if line.startswith("event: "):
            kind = line[7:]
        elif line.startswith("data: ") and line != "data: [DONE]":
            yield kind, json.loads(line[6:])


class OpenAI:
    def __init__(self, stream):
        self.url = os.environ["OPENAI_BASE_URL"] + "/chat/completions"
        self.key = os.environ["OPENAI_API_KEY"]
        self.stream = stream
        self.messages = [{"role": "system", "content": "You edit files."}]

    def body(self):
        body = {"model": "gpt-5", "messages": self.messages, "stream": self.stream, "store": False,
                "tools": [{"type": "function", "function": {"name": "write", "parameters": TOOL}}]}
        if self.stream:
            body["stream_options"] = {"include_usage": True}
        return body

    def say(self, text):
        self.messages.append({"role": "user", "content": text})

    def results(self, results):
        self.messages += [{"role": "tool", "tool_call_id": id, "content": text} for id, text in results]

    def read(self, answer):
        """Returns the text, the calls and the tokens of an answer."""
        if not self.stream:
            answer = json.load(answer)
            message, usage = answer["choices"][0]["message"], answer["usage"]
        else:
            message, usage, calls = {"role": "assistant", "content": ""}, None, {}
            for _, chunk in events(answer):
                if "error" in chunk:
                    raise RuntimeError(chunk["error"]["message"])
                usage = chunk.get("usage") or usage
                for choice in chunk["choices"]:
                    message["content"] += choice["delta"].get("content") or ""
                    for piece in choice["delta"].get("tool_calls", []):
                        call = calls.setdefault(piece["index"], {"id": piece.get("id"), "type": "function",
                                                                 "function": {"name": "", "arguments": ""}})
                        call["function"]["name"] += piece["function"].get("name", "")
                        call["function"]["arguments"] += piece["function"]["arguments"]
            if calls:
                message["tool_calls"] = [calls[i] for i in sorted(calls)]
        self.messages.append(message)
        calls = [(c["id"], c["function"]["name"], json.loads(c["function"]["arguments"]))
                 for c in message.get("tool_calls", [])]
        return message["content"] or "", calls, usage["prompt_tokens"] + usage["completion_tokens"]


class Anthropic:
    def __init__(self, stream):
        self.url = os.environ["ANTHROPIC_BASE_URL"] + "/v1/messages?beta=true"
        self.key = os.environ["ANTHROPIC_API_KEY"]
        self.stream = stream
        self.messages = []

    def body(self):
        return {"model": "claude", "max_tokens": 1000, "messages": self.messages, "stream": self.stream,
                "system": [{"type": "text", "text": "You edit files.", "cache_control": {"type": "ephemeral"}}],
                "tools": [{"name": "write", "description": "Writes.", "input_schema": TOOL}],
                "metadata": {"user_id": "u"}}

    def say(self, text):
        self.messages.append({"role": "user", "content": [{"type": "text", "text": text}]})

    def results(self, results):
        self.messages.append({"role": "user", "content": [
            {"type": "tool_result", "tool_use_id": id, "content": [{"type": "text", "text": text}]} for id, text in results]})

    def read(self, answer):
        if not self.stream:
            answer = json.load(answer)
            content, usage = answer["content"], answer["usage"]
        else:
            content, usage, ended = [], None, False
            for kind, event in events(answer):
                assert kind == event["type"], (kind, event)
                if kind == "content_block_start":
                    assert event["index"] == len(content), event
                    content.append(dict(event["content_block"], json=""))
                elif kind == "content_block_delta" and event["delta"]["type"] == "text_delta":
                    content[event["index"]]["text"] += event["delta"]["text"]
                elif kind == "content_block_delta":
                    content[event["index"]]["json"] += event["delta"]["partial_json"]
                elif kind == "message_delta":
                    usage = event["usage"]
                elif kind == "message_stop":
                    ended = True
                elif kind == "error":
                    raise RuntimeError(event["error"]["message"])
            assert ended, "the stream has no end"
            for block in content:
                text = block.pop("json")
                if block["type"] == "tool_use":
                    block["input"] = json.loads(text)
        self.messages.append({"role": "assistant", "content": content})
        calls = [(b["id"], b["name"], b["input"]) for b in content if b["type"] == "tool_use"]
        text = "".join(b["text"] for b in content if b["type"] == "text")
        return text, calls, usage["input_tokens"] + usage["cache_read_input_tokens"] + usage["output_tokens"]


def work(dialect):
    """Does what the model asks until it asks for nothing."""
    tokens = 0
    dialect.say("Write hello into a.txt.")
    while True:
        status, answer = send(dialect.url, dialect.key, dialect.body())
        if status != 200:
            return {"status": status, "error": json.load(answer)["error"]["message"], "tokens": tokens}
        text, calls, used = dialect.read(answer)
        tokens += used
        if not calls:
            return {"status": status, "text": text, "tokens": tokens}
        results = []
        for id, name, arguments in calls:
            assert name == "write", name
            with open(arguments["path"], "w") as f:
                f.write(arguments["text"])
            results.append((id, "written"))
        dialect.results(results)


def impatient(dialect):
    """Gives up after a moment, and asks again until it is answered."""
    dialect.say("Take your time.")
    for tries in range(1, 10000):
        try:
            status, answer = send(dialect.url, dialect.key, dialect.body(), timeout=0.5)
            return {"status": status, "text": dialect.read(answer)[0], "tries": tries}
        except (TimeoutError, urllib.error.URLError):
            pass


def liar(dialect):
    """Sends what no client should, from several threads, and then works as if nothing had been."""
    host, port = dialect.url.split("/")[2].split(":")
    head = "POST /v1/messages HTTP/1.1\r\nHost: %s\r\nX-Api-Key: %s\r\n" % ("localhost", dialect.key)
    lies = [head + "Content-Length: 5\r\n\r\n" + "x" * 5000, head + "Content-Length: 99\r\n\r\n{}", head + "Content-Length: -1\r\n\r\n",
            head + "Transfer-Encoding: chunked\r\n\r\nfff\r\n{", head + "Content-Length: 2\r\nContent-Length: 3\r\n\r\n{}",
            "\x16\x03\x01" * 50, "GET " + "/" * 100000 + " HTTP/1.1\r\n\r\n", head + "X-A: " + "b" * (1 << 20) + "\r\n\r\n"]

    def lie(text):
        with socket.create_connection((host, int(port)), 10) as s:
            try:
                s.sendall(text.encode("latin-1"))
                s.shutdown(socket.SHUT_WR)
                while s.recv(1 << 16):
                    pass
            except OSError:
                pass

    threads = [threading.Thread(target=lie, args=(text,)) for text in lies * 3]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    statuses = []
    for extra in ({"usage": {"output_tokens": -5}, "content": "y"}, {"max_tokens": -1}, {"n": 5, "messages": 7},
                  {"tools": [{"name": 7}]}, {"stream": "yes"}):
        dialect.messages = [{"role": "user", "content": "x"}]
        status, answer = send(dialect.url, dialect.key, {**dialect.body(), **extra})
        statuses.append(status)
        answer.read()
    for headers in ({"X-Api-Key": dialect.key[:-1], "Authorization": ""}, {"Authorization": "Bearer x"}, {"Host": "evil.example"}):
        status, answer = send(dialect.url, dialect.key, dialect.body(), headers=headers)
        statuses.append(status)
    return {"statuses": statuses, **work(type(dialect)(True))}


def fork(dialect):
    """Leaves children behind that go on asking, and print the last thing that they are told."""
    ready, told = os.pipe()
    for i in range(3):
        if os.fork() == 0:
            os.closerange(0, 3)  # so that nobody waits for this one
            with open("child.%d.tmp" % i, "w") as out:
                n = 0
                while True:
                    dialect.messages = []
                    dialect.say("child %d, %d" % (i, n))
                    status, answer = send(dialect.url, dialect.key, dialect.body())
                    answer.read()
                    if n == 0:
                        os.write(told, b"x")
                    n += 1
                    if status != 200 or n > 100000:
                        break
                    time.sleep(0.01)
                json.dump({"status": status, "asked": n}, out)
            os.rename("child.%d.tmp" % i, "child.%d" % i)
            os._exit(0)
    for _ in range(3):
        os.read(ready, 1)
    return {"status": 200}


MODES = {"work": work, "impatient": impatient, "liar": liar, "fork": fork}
DIALECTS = {"openai": OpenAI, "anthropic": Anthropic}

if __name__ == "__main__":
    mode, name, how = sys.argv[1:]
    print(json.dumps(MODES[mode](DIALECTS[name](how == "streamed"))))

#!/bin/sh
# An agent that is a shell script: it starts two others at once, goes on when one fails, and reports both.
set -u
work=$(dirname "$0")
(mkdir -p one && cd one && "$1" "$work/agent.py" work openai streamed >out.json) &
(mkdir -p two && cd two && "$1" "$work/agent.py" work anthropic whole >out.json) &
wait
cat one/out.json two/out.json one/a.txt two/a.txt

"""Scores codes of numbers: a point for each that is right and can be read back."""
import os
import subprocess
import sys

ASK = """
import main
for n in map(int, input().split()):
    code = main.write(n)
    print(code, main.read(code))
"""


def evaluate(program_path):
    numbers = [7 ** i for i in range(8)]
    env = dict(os.environ, PYTHONPATH=program_path)
    done = subprocess.run([sys.executable, "-c", ASK], input=" ".join(map(str, numbers)), capture_output=True, text=True, env=env)
    if done.returncode:
        return {"error": done.stderr.strip().splitlines()[-1]}
    rows = [line.split() for line in done.stdout.splitlines()]
    score = sum(int(code, 8) == n and int(back) == n for n, (code, back) in zip(numbers, rows))
    return {"combined_score": score, "files": " ".join(sorted(
        os.path.relpath(os.path.join(d, f), program_path) for d, _, names in os.walk(program_path) for f in names))}

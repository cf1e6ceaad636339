"""No combined_score: the mean of what is a finite number."""


def evaluate(program_path):
    with open(program_path) as f:
        text = f.read()
    return {"short": 1 / (1 + len(text)), "lines": text.count("\n"), "nan": float("nan"), "good": True, "note": "text"}

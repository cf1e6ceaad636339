"""Scores a program in this process, and returns a dict."""
import importlib.util
import traceback

import helper


def evaluate(program_path):
    try:
        spec = importlib.util.spec_from_file_location("program", program_path)
        program = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(program)
        value = program.run()
        return {"value": value, "combined_score": helper.score(value), "passed": True, "unit": "m"}
    except Exception as e:
        return {"combined_score": 0.0, "error": str(e), "traceback": traceback.format_exc()}

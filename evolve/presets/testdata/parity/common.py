"""What the scripts of this folder share: the arguments, the commit, and how records are written."""

import json
import subprocess
import sys
import types
from pathlib import Path


def source(repository, commit):
    """Returns the folder of the peer's code, which the command line names, and what is recorded of it.

    The folder is a copy of the commit: a clone of it, or an archive without a .git.
    """
    if len(sys.argv) != 2:
        sys.exit(f"usage: python3 {Path(sys.argv[0]).name} FOLDER, a copy of {repository} at {commit}")
    folder = Path(sys.argv[1]).resolve()
    if (folder / ".git").exists():
        head = subprocess.run(["git", "-C", str(folder), "rev-parse", "HEAD"], capture_output=True, text=True).stdout
        if not head.startswith(commit):
            sys.exit(f"{folder} is at {head.strip()}, need {commit}")
    return folder, {"repository": repository, "commit": commit}


def package(name, folder):
    """Makes a package importable by module without what its __init__ imports."""
    module = types.ModuleType(name)
    module.__path__ = [str(folder)]
    sys.modules[name] = module
    return module


def absent(*names):
    """Stands in for modules that are imported and not used here."""
    for name in names:
        if name not in sys.modules:
            sys.modules[name] = types.ModuleType(name)
            sys.modules[name].__getattr__ = lambda attribute: type(attribute, (), {})


def write(record):
    """Writes the record beside the script, one value a line where lists are long."""
    path = Path(sys.argv[0]).with_suffix(".json")
    lines = []
    for key, value in record.items():
        if isinstance(value, list):
            text = "[\n  " + ",\n  ".join(json.dumps(v, ensure_ascii=False) for v in value) + "\n ]"
        else:
            text = json.dumps(value, ensure_ascii=False)
        lines.append(f" {json.dumps(key)}: {text}")
    path.write_text("{\n" + ",\n".join(lines) + "\n}\n")

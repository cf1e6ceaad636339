import ast
import base64

LOOPS = (ast.For, ast.AsyncFor, ast.While)
COPIERS = ("append", "concatenate", "hstack", "vstack", "insert", "delete")  # of NumPy


def hints():
    found = []
    visit(ast.parse(base64.b64decode(PROGRAM).decode()), [], found)
    return found


def visit(node, loops, found):
    """Adds what node and its parts may do in loops, which are those around it in its function."""
    if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)):
        loops = []
    elif isinstance(node, LOOPS):
        loops = loops + [node]
        if len(loops) >= 3:
            add(found, node, "nested loops", 0.1, f"loops nest {len(loops)} deep here")
        if isinstance(node, ast.For):
            elements(node, found)
    elif isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and isinstance(node.func.value, ast.Name):
        call(node, node.func.value.id, node.func.attr, loops, found)
    for part in ast.iter_child_nodes(node):
        visit(part, loops, found)


def elements(loop, found):
    """A loop over range(len(x)) or range(x.shape[0]) whose body has x[i]."""
    for n in ast.walk(loop.iter):
        sized = n.value if isinstance(n, ast.Attribute) and n.attr in ("shape", "size") else \
            n.args[0] if isinstance(n, ast.Call) and getattr(n.func, "id", "") == "len" and n.args else None
        if isinstance(sized, ast.Name) and any(
                isinstance(x, ast.Subscript) and getattr(x.value, "id", "") == sized.id for b in loop.body for x in ast.walk(b)):
            return add(found, loop, "python loop", 0.4,
                       f"goes over {sized.id} an element at a time in Python, if {sized.id} is an array")


def call(node, of, name, loops, found):
    if of in ("np", "numpy") and name == "vectorize":
        add(found, node, "python loop", 0.4, "np.vectorize calls a Python function for each element")
    if not loops:
        return
    if of in ("np", "numpy") and name in COPIERS:
        add(found, node, "copy in loop", 0.4, f"np.{name} copies its arrays in each pass of the loop of line {loops[-1].lineno}")
    first = bool(node.args) and isinstance(node.args[0], ast.Constant) and node.args[0].value == 0
    if first and (name, len(node.args)) in (("pop", 1), ("insert", 2)):
        add(found, node, "list shift", 0.2, f"{of}.{name}(0…) moves all other elements, in a loop, if {of} is a list")


def add(found, node, kind, weight, text):
    found.append({"Line": node.lineno, "Kind": kind, "Weight": weight, "Text": text})

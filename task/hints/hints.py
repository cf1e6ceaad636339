import ast
import base64

# NumPy's functions that work element by element, those that make an array, and those that go over one and return less.
ELEMENTWISE = set("""abs absolute add arccos arcsin arctan arctan2 cbrt ceil clip cos cosh deg2rad degrees divide equal exp
exp2 expm1 fabs floor floor_divide fmax fmin greater greater_equal hypot isfinite isinf isnan less less_equal log log10 log1p
log2 logical_and logical_not logical_or maximum minimum mod multiply negative not_equal power rad2deg radians reciprocal
remainder round rint sign sin sinh sqrt square subtract tan tanh true_divide trunc where""".split())
MAKERS = set("""arange array asarray ascontiguousarray copy empty empty_like eye fromiter full full_like linspace logspace ones
ones_like zeros zeros_like""".split())
REDUCERS = set("all any argmax argmin argsort average dot max mean median min prod sort std sum var".split())
COPIERS = set("append concatenate hstack vstack insert delete".split())
LOOPS = (ast.For, ast.AsyncFor, ast.While)
COMPREHENSIONS = (ast.ListComp, ast.SetComp, ast.GeneratorExp, ast.DictComp)
FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)


def short(node):
    text = " ".join(ast.unparse(node).split())
    return text if len(text) <= 50 else text[:50] + "…"


class Cost:
    """What an expression does: whether it makes an array, of which operands, in how many passes."""

    def __init__(self, array=False, made=False, names=(), made_before=0, passes=0):
        self.array, self.made, self.names, self.made_before, self.passes = array, made, frozenset(names), made_before, passes

    def over(self, *others, array=True, made=True):
        """The cost of one more pass over the values of others."""
        names = frozenset().union(*(o.names for o in others))
        before = sum(o.made_before + (1 if o.made else 0) for o in others)
        return Cost(array, made, names, before, 1 + sum(o.passes for o in others))

    def beside(self, *others):
        """The cost of others, whose value is not an array."""
        c = Cost().over(*others, array=False, made=False)
        c.passes -= 1
        return c


class Reader:
    def __init__(self, tree, sizes):
        self.tree, self.sizes, self.found = tree, sizes, []
        self.numpy, self.functions = set(), {}
        for node in ast.walk(tree):
            if isinstance(node, ast.Import):
                for a in node.names:
                    if a.name == "numpy":
                        self.numpy.add(a.asname or "numpy")
            elif isinstance(node, ast.ImportFrom) and node.module == "numpy":
                for a in node.names:
                    self.functions[a.asname or a.name] = a.name

    def add(self, node, kind, weight, text):
        self.found.append({"Line": node.lineno, "Kind": kind, "Weight": weight, "Text": text})

    def numpy_name(self, call):
        """The name of the function of NumPy that is called, or None."""
        f = call.func
        if isinstance(f, ast.Attribute) and isinstance(f.value, ast.Name) and f.value.id in self.numpy:
            return f.attr
        if isinstance(f, ast.Name):
            return self.functions.get(f.id)
        return None

    # What an expression costs.

    def cost(self, node, arrays):
        if isinstance(node, ast.Name):
            return Cost(node.id in arrays, False, [node.id] if node.id in arrays else [])
        if isinstance(node, (ast.BinOp, ast.UnaryOp, ast.Compare)):
            parts = [node.operand] if isinstance(node, ast.UnaryOp) else \
                [node.left, node.right] if isinstance(node, ast.BinOp) else [node.left] + node.comparators
            costs = [self.cost(p, arrays) for p in parts]
            return Cost().over(*costs) if any(c.array for c in costs) else Cost().beside(*costs)
        if isinstance(node, ast.Call):
            return self.call(node, arrays)
        if isinstance(node, ast.Subscript):
            c = self.cost(node.value, arrays)
            if c.array and sliced(node.slice):
                return c  # a view
            return Cost().beside(c)
        if isinstance(node, FUNCTIONS + COMPREHENSIONS):
            return Cost()
        return Cost().beside(*[self.cost(c, arrays) for c in ast.iter_child_nodes(node) if isinstance(c, ast.expr)])

    def call(self, node, arrays):
        costs = [self.cost(a, arrays) for a in node.args]
        name, out = self.numpy_name(node), any(k.arg == "out" for k in node.keywords)
        if name in ELEMENTWISE:
            known = [c for c in costs if c.array]
            return Cost().over(*costs, made=not out) if known else Cost().beside(*costs)
        if name in MAKERS:
            return Cost().over(*costs)
        if name in REDUCERS and any(c.array for c in costs):
            return Cost().over(*costs, array=False, made=False)
        if isinstance(node.func, ast.Attribute) and name is None:
            own = self.cost(node.func.value, arrays)
            if own.array and node.func.attr in ("copy", "astype"):
                return Cost().over(own, *costs)
            if own.array and node.func.attr in REDUCERS:
                return Cost().over(own, *costs, array=False, made=False)
            return Cost().beside(own, *costs)
        return Cost().beside(*costs)

    # What statements do, in order, for each function by itself.

    def function(self, node):
        arrays = set(self.sizes) & {a.arg for a in arguments(node)}
        arrays |= self.used_as_arrays(node)
        self.block(node.body, arrays, {}, [])

    def used_as_arrays(self, node):
        """Arguments that a function of NumPy is given, or that have several indices: they may be arrays."""
        names = {a.arg for a in arguments(node) if not number(getattr(a, "annotation", None))}
        used = set()
        for n in ast.walk(node):
            if isinstance(n, ast.Subscript) and isinstance(n.slice, ast.Tuple) and sliced(n.slice):
                used |= {n.value.id} & names if isinstance(n.value, ast.Name) else set()  # no list has several indices
            if isinstance(n, ast.Call) and (self.numpy_name(n) in ELEMENTWISE | REDUCERS):
                used |= {x.id for a in n.args for x in ast.walk(a) if isinstance(x, ast.Name) and x.id in names
                         and not within_index(a, x)}
        return used

    def block(self, body, arrays, kinds, loops):
        for s in body:
            self.statement(s, arrays, kinds, loops)

    def statement(self, s, arrays, kinds, loops):
        if isinstance(s, FUNCTIONS):
            return self.function(s)
        if isinstance(s, ast.ClassDef):
            return self.block(s.body, set(), {}, [])
        if isinstance(s, LOOPS):
            self.loop(s, arrays, loops)
            inner = loops + [s]
            if len(inner) >= 3:
                self.add(s, "nested loops", min(0.1 * (len(inner) - 2), 1), f"loops nest {len(inner)} deep here")
            self.block(s.body, arrays, kinds, inner)
            return self.block(s.orelse, arrays, kinds, loops)
        self.expressions(s, arrays, kinds, loops)
        self.arrays(s, arrays)
        self.grows(s, kinds, loops)
        for field in ("body", "orelse", "finalbody"):
            self.block(getattr(s, field, None) or [], arrays, kinds, loops)
        for h in list(getattr(s, "handlers", [])) + list(getattr(s, "cases", [])):
            self.block(h.body, arrays, kinds, loops)

    def loop(self, s, arrays, loops):
        if isinstance(s, ast.While):
            return
        over = self.elements(s.iter, s.body, arrays)
        if over:
            self.add(s, "python loop", 0.4, f"goes over {over} an element at a time in Python, if {over} is an array")

    def elements(self, it, body, arrays):
        """The array that a loop goes over, or None."""
        if isinstance(it, ast.Call) and isinstance(it.func, ast.Name) and it.func.id in ("enumerate", "zip", "reversed"):
            for a in it.args:
                if self.elements(a, body, arrays):
                    return self.elements(a, body, arrays)
            return None
        if isinstance(it, ast.Name):
            return it.id if it.id in arrays else None
        if not (isinstance(it, ast.Call) and isinstance(it.func, ast.Name) and it.func.id == "range" and it.args):
            return None
        if len(it.args) == 3:
            return None  # blocks, it may be
        for n in ast.walk(it.args[-1]):
            name = measured(n)
            indexed = [x.value.id for b in body for x in ast.walk(b) if isinstance(x, ast.Subscript)
                       and isinstance(x.value, ast.Name) and x.value.id in arrays and not sliced(x.slice)]
            if name and indexed:
                return name if name in arrays else indexed[0]
        return None

    def arrays(self, s, arrays):
        """The temporaries and passes of one statement, and which names are arrays after it."""
        value = getattr(s, "value", None)
        if not isinstance(s, (ast.Assign, ast.AnnAssign, ast.AugAssign, ast.Return, ast.Expr)) or value is None:
            return
        c = self.cost(value, arrays)
        made, passes = c.made_before, c.passes
        target = s.targets[0] if isinstance(s, ast.Assign) else getattr(s, "target", None)
        if isinstance(target, ast.Subscript) or isinstance(s, ast.AugAssign):
            if c.array or isinstance(target, ast.Name) and target.id in arrays:
                made, passes = made + (1 if c.made else 0), passes + 1
        if made and c.names:
            self.temporaries(s, made, passes, c.names)
        if isinstance(s, (ast.Assign, ast.AnnAssign)) and isinstance(target, ast.Name):
            (arrays.add if c.array else arrays.discard)(target.id)

    def temporaries(self, s, made, passes, names):
        of = max(sorted(names), key=lambda n: self.sizes.get(n, 0))
        size = self.sizes.get(of)
        what = f"of about {mega(size)} each" if size else f"of the size of {of}"
        arrays = "1 temporary array" if made == 1 else f"{made} temporary arrays"
        if made == 1:
            what = what.replace(" each", "")
        passes = "1 pass" if passes == 1 else f"{passes} passes"
        self.add(s, "temporaries", min(0.05 * made, 0.5), f"may allocate {arrays} {what}, and makes {passes} over arrays such as {of}")

    def expressions(self, s, arrays, kinds, loops):
        """Calls and comprehensions in a statement's own expressions."""
        for n in own(s):
            if isinstance(n, COMPREHENSIONS):
                over = self.elements(n.generators[0].iter, [n], arrays)
                if over:
                    self.add(n, "python loop", 0.4, f"goes over {over} an element at a time in Python, if {over} is an array")
            if isinstance(n, ast.Call):
                name = self.numpy_name(n)
                if name == "vectorize":
                    self.add(n, "python loop", 0.4, "np.vectorize calls a Python function for each element")
                if name in COPIERS and loops:
                    self.add(n, "copy in loop", 0.4, f"np.{name} copies its arrays in each pass of the loop of line {loops[-1].lineno}")
                self.shifts(n, kinds, loops)
            if isinstance(n, ast.Compare) and loops and isinstance(n.ops[0], (ast.In, ast.NotIn)):
                c = n.comparators[0]
                if isinstance(c, ast.Name) and kinds.get(c.id) == "list":
                    self.add(n, "list search", 0.2, f"looks through the list {c.id} in each pass of the loop of line {loops[-1].lineno}")

    def shifts(self, n, kinds, loops):
        f = n.func
        if not (loops and isinstance(f, ast.Attribute) and isinstance(f.value, ast.Name) and kinds.get(f.value.id) == "list"):
            return
        first = bool(n.args) and isinstance(n.args[0], ast.Constant) and n.args[0].value == 0
        if first and (f.attr == "pop" and len(n.args) == 1 or f.attr == "insert" and len(n.args) == 2):
            self.add(n, "list shift", 0.2, f"{short(n)} moves all other elements of the list, in a loop")

    def grows(self, s, kinds, loops):
        if isinstance(s, ast.AugAssign) and loops and isinstance(s.op, ast.Add) and isinstance(s.target, ast.Name):
            if kinds.get(s.target.id) == "str":
                self.add(s, "concatenation", 0.1, f"the string {s.target.id} grows in a loop: it may be copied in each pass")
        value = getattr(s, "value", None)
        targets = s.targets if isinstance(s, ast.Assign) else [s.target] if isinstance(s, ast.AnnAssign) else []
        for t in targets:
            if isinstance(t, ast.Name):
                kinds[t.id] = kind(value)

    def size(self, lines):
        functions = [n for n in ast.walk(self.tree) if isinstance(n, FUNCTIONS[:2])]
        if not functions:
            return
        worst = max(functions, key=lambda f: (complexity(f), -f.lineno))
        count = len([l for l in lines if l.strip() and not l.strip().startswith("#")])
        self.found.append({"Line": 0, "Kind": "size", "Weight": 0, "Text":
                           f"{count} lines, {len(functions)} functions; {worst.name[:40]} branches most, "
                           f"with a cyclomatic complexity of {complexity(worst)}"})


def arguments(f):
    return f.args.posonlyargs + f.args.args + f.args.kwonlyargs


def number(annotation):
    return isinstance(annotation, ast.Name) and annotation.id in ("bool", "complex", "float", "int", "str")


def sliced(index):
    parts = index.elts if isinstance(index, ast.Tuple) else [index]
    return any(isinstance(p, ast.Slice) for p in parts)


def within_index(node, name):
    return any(isinstance(n, ast.Subscript) and (n.value is not name or not sliced(n.slice)) and any(x is name for x in ast.walk(n))
               for n in ast.walk(node))


def measured(n):
    """x of len(x), x.size and x.shape."""
    if isinstance(n, ast.Call) and isinstance(n.func, ast.Name) and n.func.id == "len" and n.args and isinstance(n.args[0], ast.Name):
        return n.args[0].id
    if isinstance(n, ast.Attribute) and n.attr in ("size", "shape") and isinstance(n.value, ast.Name):
        return n.value.id
    return None


def own(s):
    """The nodes of s's own expressions, without the statements and functions within."""
    todo = [c for c in ast.iter_child_nodes(s) if isinstance(c, (ast.expr, ast.keyword, ast.withitem))]
    while todo:
        n = todo.pop()
        yield n
        if not isinstance(n, FUNCTIONS):
            todo.extend(ast.iter_child_nodes(n))


def kind(value):
    if isinstance(value, (ast.List, ast.ListComp)):
        return "list"
    if isinstance(value, ast.Call) and isinstance(value.func, ast.Name) and value.func.id in ("list", "sorted"):
        return "list"
    if isinstance(value, ast.JoinedStr) or isinstance(value, ast.Constant) and isinstance(value.value, str):
        return "str"
    return None


def complexity(f):
    n = 1
    for x in ast.walk(f):
        if isinstance(x, LOOPS + (ast.If, ast.IfExp, ast.ExceptHandler, ast.comprehension)):
            n += 1
        elif isinstance(x, ast.BoolOp):
            n += len(x.values) - 1
    return n


def mega(size):
    return f"{size / 1e6:.3g} MB" if size >= 1e5 else f"{size} bytes"


def hints():
    text = base64.b64decode(PROGRAM).decode()
    reader = Reader(ast.parse(text), SIZES)
    reader.block(reader.tree.body, set(), {}, [])
    reader.size(text.splitlines())
    return reader.found[:1000]

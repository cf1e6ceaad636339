# Start as many threads as can be.
import threading
import time


def run():
    n = 0
    threading.stack_size(65536)
    try:
        for n in range(1000):
            threading.Thread(target=time.sleep, args=(99,), daemon=True).start()
    except RuntimeError:
        pass
    if n < 32:
        raise Exception("only %d threads" % n)
    return ["%d threads" % n] if n > 64 else []

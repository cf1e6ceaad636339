# Leave shared memory and a semaphore that have names.
import os


def run():
    for path in ("/dev/shm/evoalloc-letter", "/dev/shm/sem.evoalloc-letter", "/dev/mqueue/letter", "/tmp/evoalloc-letter", "/var/tmp/evoalloc-letter"):
        try:
            with open(path, "w") as f:
                f.write("dear sibling")
        except OSError:
            pass
    return []


def find():
    return [p for d in ("/dev/shm", "/dev/mqueue", "/tmp", "/var/tmp") if os.path.isdir(d) for p in os.listdir(d) if "letter" in p]

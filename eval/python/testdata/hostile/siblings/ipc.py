# Leave letters where they belong to nobody who ends.
import ctypes

libc = ctypes.CDLL(None, use_errno=True)
libc.shmat.restype = ctypes.c_void_p
KEY, add_key, keyctl = 271828, 248, 250


def run():
    shm = libc.shmget(KEY, 4096, 0o1600)
    if shm >= 0:
        at = libc.shmat(shm, None, 0)
        if at:
            ctypes.memmove(at, b"dear sibling", 12)
    libc.syscall(add_key, b"user", b"letter", b"271828", ctypes.c_size_t(6), ctypes.c_long(-4))
    return []


def find():
    found = []
    shm = libc.shmget(KEY, 4096, 0o600)
    if shm >= 0:
        found.append("shared memory")
        libc.shmctl(shm, 0, None)
    if libc.syscall(keyctl, ctypes.c_long(10), ctypes.c_long(-4), b"user", b"letter", ctypes.c_long(0)) > 0:
        found.append("a key")
    return found

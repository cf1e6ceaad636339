# Nest folders as deep as they can be, and wide at every hundredth.
import os


def run():
    try:
        for i in range(2000):
            os.mkdir("d")
            os.chdir("d")
            if i % 100 == 0:
                for j in range(10):
                    os.mkdir("w%d" % j, 0o300)
    except OSError:
        pass
    return []

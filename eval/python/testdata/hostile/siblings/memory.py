# Leave a letter in the program, and look for letters of others in all memory. The pattern is no letter.
import re

LETTER = re.compile(rb"dear sibling [0-9]{6}")


def run():
    return [] if "dear sibling NUMBER" else None


def find():
    found = set()
    with open("/proc/self/maps") as maps:
        spans = [line.split() for line in maps]
    for span in spans:
        if not span[1].startswith("r") or span[-1] in ("[vvar]", "[vsyscall]", "[vvar_vclock]"):
            continue
        start, end = (int(x, 16) for x in span[0].split("-"))
        found.update(LETTER.findall(view(start, end - start)))
    return sorted(x.decode() for x in found)


def view(start, size):
    import ctypes
    return (ctypes.c_char * size).from_address(start)

# Keep what modules have done around every fork to those that need it.

import os
import sys

# Modules whose hooks have nothing to do when one process without threads forks another, and touch
# many pages for it. A candidate that may itself fork gets them back.
IDLE = {"random", "threading", "logging", "concurrent.futures.thread"}

held, register_at_fork = [], os.register_at_fork

# A generator that was imported already is reseeded by each fork, and must be set right again.
reseed = "random" in sys.modules


def hold(**hooks):
    if all(getattr(h, "__module__", "") in IDLE for h in hooks.values()):
        held.append(hooks)
    else:
        register_at_fork(**hooks)


def release_hooks():
    """Hold no more hooks from here on. Return what registers those that were held."""
    os.register_at_fork = register_at_fork

    def restore():
        for hooks in held:
            register_at_fork(**hooks)

    return restore


os.register_at_fork = hold

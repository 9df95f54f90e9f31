"""Lock a file for as long as this process lives."""


def acquire_lock(descriptor: int) -> bool:
    """Try to lock an open file until it is closed; return whether that succeeded.

    The system releases the lock when the process ends, even if it is killed. The result
    is false if another process holds the lock, and always on a system or a file system
    without such locks.
    """
    try:
        import fcntl  # noqa: PLC0415 - exists on POSIX only

        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except (ImportError, OSError):
        return False
    return True

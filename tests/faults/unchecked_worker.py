"""Worker that does not check its spool at the start, as with a very large one."""

from collector import damage, worker

if __name__ == "__main__":
    damage.CHECKED_BYTES = 0
    worker.main()

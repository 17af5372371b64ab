"""A worker that does not look through its spool at its start, as with one that is very large."""

from collector import damage, worker

if __name__ == "__main__":
    damage.CHECKED_BYTES = 0
    worker.main()

"""Worker that queries the positions of readers every second, not every 30 s."""

from collector import prune, worker

if __name__ == "__main__":
    prune.INTERVAL_SECONDS = 1.0  # type: ignore[misc]
    worker.main()

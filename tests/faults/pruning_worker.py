"""Worker that queries the positions of readers every second, not every 30 s."""

from collector import cursor_worker, worker

if __name__ == "__main__":
    cursor_worker.INTERVAL_SECONDS = 1.0  # type: ignore[misc]
    worker.main()

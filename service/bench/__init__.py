"""What the service takes for an answer, measured."""

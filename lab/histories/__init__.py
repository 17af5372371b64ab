"""Real publishing histories, replayed through the learning of limits."""

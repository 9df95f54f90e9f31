"""From bytes to rows: JSON Lines, JSON arrays, columns."""

"""From bytes to rows: JSON Lines, JSON arrays and columns, each row with its place."""

"""What a file is and which units of work it has, settled before its first row."""

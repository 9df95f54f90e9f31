"""Convert files to another format, and report what is lost."""

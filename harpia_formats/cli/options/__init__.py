"""The options of all commands, each declared once as an annotated type."""

"""From files to records."""

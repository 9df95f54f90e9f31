"""From files to problems and a report."""

"""Running a judge over rows: bindings, verdicts in order, and the output file."""

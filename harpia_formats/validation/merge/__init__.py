"""From the results of units to the counts and problems of a file and of a run."""

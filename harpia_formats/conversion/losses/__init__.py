"""Report what a conversion loses: as problems, as tables, and for pairs of formats."""

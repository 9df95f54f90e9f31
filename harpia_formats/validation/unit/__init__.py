"""The validation of one unit of work: a function of the plan and the unit."""

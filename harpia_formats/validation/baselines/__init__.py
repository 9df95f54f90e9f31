"""Baselines: the findings of a data set that are known, and are not reported again."""

#: Known findings of one kind up to which the examples are those beyond them. More would
#: have to be described only to be passed over.
DESCRIBED = 200

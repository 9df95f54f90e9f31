"""The values that all other packages use; it imports none of them.

To read in this order: `record` (one evaluated sample), `problem` and `report` (what is
found), `format` and `adapter` (how rows become records), `text` (words for people).
"""

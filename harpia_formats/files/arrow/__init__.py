"""Tables of Arrow: records as columns, and the values of any column as JSON.

To read in this order: `tables`, `json_values`.
"""

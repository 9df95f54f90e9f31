"""The values that all other packages use; it imports none of them.

What comes in: parts of values. What goes out: records, problems, reports and formats,
which are compared and shown, but read and write nothing. To read in this order:
`record` (one evaluated sample), `problem`, `report` and `result` (what is found;
`notebook` shows it), `format` and `adapter` (how rows become records), `field_outcomes`
(what becomes of fields), `lint`, `column` (values of many rows), `vendor_metrics`,
`column_map` and `value_path` (values by names that a user gives), `exact_json`, `bins`;
words for people: `describe`, `spelling`, `safe_text`, `text_columns`.
"""

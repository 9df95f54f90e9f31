"""Intervals and p-values: functions of arrays, without files and options.

`intervals` and `bootstrap` are of one score, `paired_tests` and `paired_differences` of
several systems on the same questions.
"""

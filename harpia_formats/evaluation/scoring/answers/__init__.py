"""Identify the question and the system of each answer.

`input_files` reads the files and names the systems, `choose_systems` selects those that
are compared, `match_questions` finds the questions that several of them answered.
"""

"""What no schema of EvalEval's rows can say: checks that are made with `--lint`.

Each module checks rows in one respect and has the rules of these checks in a table
beside it. A check has two forms: `remarks` takes a decoded row and words what is wrong;
`is_clean` takes a row as the typed decoder reads it and tells quickly that `remarks`
would yield nothing. It may only accept.
"""

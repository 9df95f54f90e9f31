"""The formats that exist, and which one a file is in.

What comes in: the name of a format, or the beginning of a file. What goes out: formats,
schemas, validators, adapters and rules. To read in this order: `rules` (what can be
wrong, and lints), `extensions` (those of other distributions), `registry` (all of them;
the one import of the adapters), `schema` (validators and decoders), `detection`.
"""

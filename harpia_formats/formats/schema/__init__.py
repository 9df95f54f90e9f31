"""JSON Schemas: loading, validators, and typed decoders made of them.

To read in this order: `bundled_schemas` (and exact verdicts), `decoder_types`
and `typed_decoder` (fast verdicts on valid rows), `references` and `keywords` (what
stands in a schema), `error_paths` (places of errors), `user_schema` (a schema that is
given), `check` (mistakes in one), `to_python`.
"""

"""Map rows of a format to records, and records to rows.

To read in this order: `compiled_fields` and `fields` (tables of fields),
`extra_fields`, `chat_messages` (what adapters share), `choices`,
`stored_choices`, `preparation`, `chats` and `fit` (what a row can hold), `requirements`
and `field_constants`, `to_rows`; for many records `record_program` and `direct_read`
with `direct_objects`; for questions and answers `questions` and `answer_groups`.
"""

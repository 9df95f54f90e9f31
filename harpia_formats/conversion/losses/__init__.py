"""Report what a conversion loses: as problems, as tables, and for pairs of formats.

To read in this order: `conversion_report`, `conversion_problems`,
`loss_report` (in JSON, or without values); `specimen_records` and `format_pair_losses`
(each pair of formats), `field_map_markdown`.
"""

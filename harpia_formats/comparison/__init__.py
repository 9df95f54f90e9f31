"""Two data sets record by record, and there and back again."""

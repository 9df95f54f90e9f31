"""Find mistakes in JSON Schemas: what no validator reports, but no author means."""

"""Writing measurements as Markdown tables, pages and pictures."""

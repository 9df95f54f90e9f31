"""Formats, rules, metrics and reporters that other packages add by entry points."""

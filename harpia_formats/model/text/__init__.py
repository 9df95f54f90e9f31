"""Text for people: spelling suggestions, descriptions of values, safe output."""

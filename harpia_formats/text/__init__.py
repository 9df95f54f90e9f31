"""Words for people: spelling, descriptions, and text made harmless."""

"""From a refused row to a sentence with a place."""

"""The plain data that all other packages use; it imports none of them."""

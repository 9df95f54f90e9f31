"""The plain data that all stages speak of; imports nothing but itself."""

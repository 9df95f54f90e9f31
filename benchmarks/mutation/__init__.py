"""Small changes of modules, and the tests that should notice each of them."""

"""JSON Schemas: loading, validators, and typed decoders made of them."""

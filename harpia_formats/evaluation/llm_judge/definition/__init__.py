"""The checked definition of a judge: inputs, outputs, examples, prompt and endpoint."""

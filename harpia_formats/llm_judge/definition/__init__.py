"""What a judge is: its inputs, outputs, examples, prompt and endpoint, checked."""

"""From records to files of another format."""

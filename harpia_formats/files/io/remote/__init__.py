"""Read, write and list remote files, with messages for their errors."""

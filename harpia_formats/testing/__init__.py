"""Support for tests of formats, ours and those of plug-ins."""

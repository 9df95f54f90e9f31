"""The library and its version, as a signature names them."""

from harpia_formats._version import __version__

#: The part of the signature of a metric that is computed here alone.
OWN_LIBRARY = f"impl:harpia-formats-{__version__}"

"""The texts that a picture in SVG shows."""

from xml.etree import ElementTree as ET


def texts_of(picture: ET.Element | bytes) -> list[str]:
    """Return the texts in an SVG, which is read or not."""
    root = ET.fromstring(picture) if isinstance(picture, bytes) else picture  # noqa: S314 - our own text
    texts = root.iter("{http://www.w3.org/2000/svg}text")
    return ["".join(text.itertext()) for text in texts]

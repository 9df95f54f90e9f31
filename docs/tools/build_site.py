"""Build the documentation site: `python docs/tools/build_site.py [--output FOLDER]`.

It needs the extra `docs`, and no network. `--version NAME` builds into a folder of the
output with that name, next to those of other versions, among which a menu chooses. The
links of the built pages are checked; a broken one, or a resource of another host, is
an error, and so is a question for which the search does not find its page.
`python -m http.server --directory FOLDER` serves the site with its search.
"""

import argparse
import json
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterable
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from site_links import broken_links
from site_pages import DOCS, ROOT, navigation, site_files, site_pages
from site_search import unanswered, with_weight

#: Where the site is published.
URL = "https://harpia-formats.github.io/harpia-formats/"
#: The version that a site opens with, and its second name.
LATEST = "latest"
VERSIONS = "versions.json"
REDIRECT = """\
<!doctype html>
<html lang="en">
<meta charset="utf-8">
<title>harpia-formats</title>
<meta http-equiv="refresh" content="0; url={target}/index.html">
<p><a href="{target}/index.html">The documentation of harpia-formats</a></p>
</html>
"""


def main() -> None:
    """Build the site into the folder that the arguments name, and check its links."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--output", type=Path, default=Path("site"))
    parser.add_argument("--version", help="the folder of a version in the output")
    arguments = parser.parse_args()
    output: Path = arguments.output
    folder = output / arguments.version if arguments.version else output
    url = f"{URL}{arguments.version}/" if arguments.version else URL
    build(folder, url)
    problems = [str(each) for each in broken_links(folder, urlsplit(url).path)]
    asked = list(unanswered(folder))
    print(*problems, *asked, sep="\n", end="\n" if problems or asked else "")
    if arguments.version:
        add_version(output, arguments.version)
    pages = sum(1 for _ in folder.rglob("*.html"))
    print(f"{pages} pages in {folder}, {len(problems)} broken links")
    sys.exit(bool(problems or asked))


def build(folder: Path, url: str) -> None:
    """Build the site of `url` into `folder`; what it held before is deleted."""
    with tempfile.TemporaryDirectory() as work:
        stage(Path(work), url)
        command = [sys.executable, "-m", "mkdocs", "build", "--strict", "--quiet"]
        command += ["--config-file", f"{work}/mkdocs.yml", "--site-dir"]
        # Equal pages give equal bytes: MkDocs takes the date of a build from here.
        variables = {**os.environ, "SOURCE_DATE_EPOCH": "0", "NO_MKDOCS_2_WARNING": "1"}
        subprocess.run(  # noqa: S603 - the command is ours
            [*command, str(folder.resolve())], check=True, cwd=work, env=variables
        )


def stage(work: Path, url: str) -> None:
    """Write what MkDocs builds the site of `url` from into the folder `work`."""
    for name, text in site_pages().items():
        path = work / "docs" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(with_weight(text, str(name)), encoding="utf-8")
    for path in site_files():
        shutil.copy(path, work / "docs" / path.relative_to(DOCS))
    settings = (DOCS / "mkdocs.yml").read_text(encoding="utf-8")
    paths = json.dumps([str(ROOT), str(ROOT / "converters")])
    # YAML holds JSON, so no YAML has to be written.
    settings = settings.replace("PATHS", paths).replace("SITE_URL", url)
    settings += f"nav: {json.dumps(navigation())}\n"
    (work / "mkdocs.yml").write_text(settings, encoding="utf-8")


def add_version(output: Path, version: str) -> None:
    """Add a version to the list of a site, and let the site open with it."""
    path = output / VERSIONS
    known = json.loads(path.read_text(encoding="utf-8")) if path.exists() else []
    others = [each for each in known if each["version"] != version]
    for each in others:
        each["aliases"] = []
    own = {"version": version, "title": version, "aliases": [LATEST]}
    path.write_text(as_json([own, *others]), encoding="utf-8")
    # Links to pages of the newest version stay the same from release to release.
    shutil.rmtree(output / LATEST, ignore_errors=True)
    shutil.copytree(output / version, output / LATEST)
    text = REDIRECT.format(target=LATEST)
    (output / "index.html").write_text(text, encoding="utf-8")


def as_json(versions: Iterable[dict[str, Any]]) -> str:
    """Return the list of versions as JSON text."""
    return json.dumps(list(versions), indent=2) + "\n"


if __name__ == "__main__":
    main()

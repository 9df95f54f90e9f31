#!/usr/bin/env bash
# The step of action.yml: install harpia-formats into an environment of its own, and
# validate there. INPUT_VERSION names a release; without it the action's own code is used.
set -euo pipefail
# Modules in the working folder, the repository that is checked, are not those of Python.
export PYTHONSAFEPATH=1

# Print an annotation without a place, and end as the command does if it cannot work.
fail() {
  echo "::error title=harpia-formats::$1"
  exit 2
}

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
extras=${INPUT_EXTRAS:-}
[[ $extras =~ ^[a-z,]*$ ]] || fail "the input extras is not a list of names with commas"
extras=${extras:+"[$extras]"}
package=$here/../..$extras
if [[ -n ${INPUT_VERSION:-} ]]; then
  [[ $INPUT_VERSION =~ ^[0-9][0-9A-Za-z.]*$ ]] || fail "the input version is no version"
  package="harpia-formats$extras==$INPUT_VERSION"
fi

python=
for name in python3 python; do
  if "$name" -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2> /dev/null; then
    python=$name
    break
  fi
done
[[ -n $python ]] || fail "Python 3.11 or newer is needed; use actions/setup-python before"

environment=$(mktemp -d "${RUNNER_TEMP:-/tmp}/harpia-formats.XXXXXX")
"$python" -m venv "$environment" || fail "no virtual environment could be made"
programs=$environment/bin
[[ -d $programs ]] || programs=$environment/Scripts # on Windows
"$programs/python" -m pip install --quiet --disable-pip-version-check "$package" ||
  fail "harpia-formats could not be installed"
exec "$programs/python" "$here/validate.py" "$environment/report.json"

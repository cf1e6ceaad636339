#!/usr/bin/env bash
# Fetches the files of this folder from the registry that npm is configured for, and takes them only if the package has the
# integrity, and each file the SHA-256, that pins.json has. For another version, change pins.json and run this.
set -euo pipefail
cd "$(dirname "$0")"

pin() { node -p "JSON.parse(require('fs').readFileSync('pins.json', 'utf8'))$1"; }
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

archive=$work/$(npm pack --silent --pack-destination "$work" "$(pin .name)@$(pin .version)")
integrity=sha512-$(openssl dgst -sha512 -binary "$archive" | openssl base64 -A)
if [ "$integrity" != "$(pin .integrity)" ]; then
  echo "the package has integrity $integrity, and pins.json has $(pin .integrity)" >&2
  exit 1
fi

tar -xzf "$archive" -C "$work"
files=$(node -p "Object.keys(JSON.parse(require('fs').readFileSync('pins.json', 'utf8')).files).join(' ')")
for file in $files; do
  sum=$(sha256sum "$work/package/$file" | cut -d' ' -f1)
  if [ "$sum" != "$(pin ".files['$file']")" ]; then
    echo "$file has SHA-256 $sum, and pins.json has $(pin ".files['$file']")" >&2
    exit 1
  fi
done
for file in $files; do
  install -m 644 "$work/package/$file" "$(basename "$file")"
done

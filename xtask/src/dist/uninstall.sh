#!/bin/sh
# Removes what install.sh of the same archive copied below a prefix. Plans and settings stay: run `punch uninstall` in your
# projects first.
#
#   ./uninstall.sh                     from ~/.local
#   ./uninstall.sh --prefix /usr/local
set -eu

prefix="${HOME:?}/.local"
case "${1:-}" in
    "") ;;
    --prefix) prefix="${2:?"--prefix needs a folder"}" ;;
    *) echo "usage: ./uninstall.sh [--prefix DIR]" >&2; exit 2 ;;
esac

here=$(cd "$(dirname "$0")" && pwd)
(cd "$here" && find bin share -type f) | while IFS= read -r file; do
    rm -f "$prefix/$file"
done
rmdir "$prefix/share/doc/punchlist" 2>/dev/null || true
echo "removed punch from $prefix"

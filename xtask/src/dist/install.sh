#!/bin/sh
# Copies punch, its man pages and its shell completions below a prefix. Downloads nothing.
#
#   ./install.sh                     into ~/.local
#   ./install.sh --prefix /usr/local
set -eu

prefix="${HOME:?}/.local"
case "${1:-}" in
    "") ;;
    --prefix) prefix="${2:?"--prefix needs a folder"}" ;;
    *) echo "usage: ./install.sh [--prefix DIR]" >&2; exit 2 ;;
esac

here=$(cd "$(dirname "$0")" && pwd)
mkdir -p "$prefix/bin"
# Copied beside it and renamed, so that a running punch keeps the file it was started from.
cp "$here/bin/punch" "$prefix/bin/.punch.new"
chmod 755 "$prefix/bin/.punch.new"
mv -f "$prefix/bin/.punch.new" "$prefix/bin/punch"

(cd "$here" && find share -type f) | while IFS= read -r file; do
    mkdir -p "$prefix/$(dirname "$file")"
    cp "$here/$file" "$prefix/$file"
    chmod 644 "$prefix/$file"
done

echo "installed $prefix/bin/punch; uninstall.sh removes it"
case ":$PATH:" in
    *":$prefix/bin:"*) ;;
    *) echo "hint: $prefix/bin is not on your PATH" ;;
esac
# zsh looks for completions in the folders of the system only.
case "$prefix:${SHELL:-}" in
    /usr:*) ;;
    *zsh) echo "hint: for completions, add to ~/.zshrc before compinit: fpath=($prefix/share/zsh/vendor-completions \$fpath)" ;;
esac

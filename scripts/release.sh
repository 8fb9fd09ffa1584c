#!/usr/bin/env bash
# release.sh VERSION [--dry-run]: releases the version MAJOR.MINOR.PATCH of a clean working tree whose CHANGELOG.md has the
# section "## VERSION - unreleased". Writes the version into include/gpunet/version.hpp (which CMake reads) and the date into
# CHANGELOG.md, commits both, tags the commit vVERSION and writes build/gpunet-VERSION.tar.gz, which has the page of all errors,
# too (docs/all_errors.md, which the tests write). Pushes nothing. --dry-run only checks and prints the steps. Run .ci/run before.
set -euo pipefail
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

usage="want MAJOR.MINOR.PATCH, then nothing or --dry-run"
[[ $# == 1 || ($# == 2 && $2 == --dry-run) ]] || fail "release.sh: the arguments '$*' are wrong, $usage"
version=$1
number='(0|[1-9][0-9]*)'
[[ $version =~ ^$number\.$number\.$number$ ]] || fail "release.sh: '$version' is no version, $usage"
major=${BASH_REMATCH[1]} minor=${BASH_REMATCH[2]} patch=${BASH_REMATCH[3]}

cd "$root"
header=include/gpunet/version.hpp
tag=v$version
archive=build/gpunet-$version.tar.gz

[[ $(git rev-parse --show-toplevel 2>/dev/null) == "$root" ]] ||
  fail "release.sh: $root is not the root of a git repository, run this in a clone"
[[ -z $(git status --porcelain) ]] ||
  fail "release.sh: the working tree has changes (git status lists them), commit or stash them"
if git rev-parse -q --verify "refs/tags/$tag" >/dev/null; then
  fail "release.sh: the tag $tag exists (a version is released once), take the next version"
fi
current=$(sed -nE 's/^#define GPUNET_VERSION "(.*)"$/\1/p' "$header")
[[ $(printf '%s\n' "$current" "$version" | sort -V | tail -n 1) == "$version" ]] ||
  fail "release.sh: $version is before $current of $header, take a later version"
section="## $version - unreleased"
grep -qxF "$section" CHANGELOG.md ||
  fail "release.sh: CHANGELOG.md has no line '$section', write that section"
errors=$(find build -path '*/tests/docs/all_errors.md' -printf '%T@ %p\n' 2>/dev/null | sort -n | tail -n 1 | cut -d' ' -f2-) || true
[[ -n $errors ]] ||
  fail "release.sh: no build folder has tests/docs/all_errors.md (the archive gets it), run ./scripts/test.sh --quick"
git var GIT_COMMITTER_IDENT >/dev/null 2>&1 ||
  fail "release.sh: git does not know who commits, set user.name and user.email by git config"

if [[ ${2:-} == --dry-run ]]; then
  say "would write $version into $header and the date into CHANGELOG.md, commit, tag $tag and write $archive"
  exit 0
fi

trap 'git reset -q --hard; say "release.sh: nothing was released, the working tree is as before"' ERR
sed -i -E "s/^(#define GPUNET_VERSION_MAJOR) .*/\1 $major/
  s/^(#define GPUNET_VERSION_MINOR) .*/\1 $minor/
  s/^(#define GPUNET_VERSION_PATCH) .*/\1 $patch/
  s/\"[0-9.]+\"/\"$version\"/" "$header"
sed -i "s/^$section\$/## $version - $(date +%F)/" CHANGELOG.md
git commit -q -m "Version $version" "$header" CHANGELOG.md
trap - ERR
git tag -a "$tag" -m "gpunet $version"
mkdir -p build
git archive --prefix="gpunet-$version/docs/" --add-file="$errors" --prefix="gpunet-$version/" -o "$archive" "$tag"
say "released $version: tag $tag, $archive; publish it by: git push --follow-tags"

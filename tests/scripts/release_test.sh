#!/usr/bin/env bash
# scripts/release.sh: the steps of a release in a repository of its own, and the refusals, which change nothing.
set -euo pipefail
. "$(dirname "$0")/testing.sh"
if ! command -v git >/dev/null; then
  skip 1 "there is no git here"
  finish
  exit
fi
export GIT_CONFIG_GLOBAL=/dev/null GIT_CONFIG_SYSTEM=/dev/null
unset GIT_DIR GIT_WORK_TREE GIT_INDEX_FILE

copy_project
mkdir -p "$project/include/gpunet"
cp "$root/include/gpunet/version.hpp" "$project/include/gpunet"
sed -i -E 's/[0-9]+\.[0-9]+\.[0-9]+/0.2.0/' "$project/include/gpunet/version.hpp"
echo /build/ >"$project/.gitignore"
printf '%s\n' '# Changelog' '' '## 1.10.0 - unreleased' '' '- New.' '' '## 0.2.0 - 2026-01-02' >"$project/CHANGELOG.md"
release=$project/scripts/release.sh
run "$release" 1.10.0
check "without a repository it stops" says "not the root of a git repository, run this in a clone"

in_project() { git -C "$project" "$@"; }
git init -q "$project"
in_project config user.name Tester
in_project config user.email tester@example.com
in_project add -A
in_project commit -q -m first
unchanged() { [[ -z $(in_project status --porcelain) && $(in_project log --oneline | wc -l) == 1 && -z $(in_project tag) ]]; }
refuses() {
  check "it refuses $2" ended_with 1
  check "and says what to do" says "$1"
  check "and changes nothing" unchanged
}

run "$release"
refuses "want MAJOR.MINOR.PATCH, then nothing or --dry-run" "no arguments"
for version in 1.10 v1.10.0 1.010.0 1.10.0-rc1 --dry-run; do
  run "$release" "$version"
  refuses "'$version' is no version, want MAJOR.MINOR.PATCH" "$version"
done
run "$release" 1.10.0 --push
refuses "want MAJOR.MINOR.PATCH, then nothing or --dry-run" "an unknown option"
run "$release" 0.1.9
refuses "0.1.9 is before 0.2.0" "an earlier version"
run "$release" 1.9.0
refuses "no line '## 1.9.0 - unreleased', write that section" "a version without a section"
run "$release" 1.10.0
refuses "no build folder has tests/docs/all_errors.md" "a release whose tests have not run"
mkdir -p "$project/build/host/tests/docs"
echo "# All errors" >"$project/build/host/tests/docs/all_errors.md"
in_project config --unset user.email
in_project config user.useConfigOnly true
run "$release" 1.10.0
refuses "set user.name and user.email" "a commit of nobody"
in_project config user.email tester@example.com

run "$release" 1.10.0 --dry-run
check "a dry run passes" ended_with 0
check "and prints the steps" says "would write 1.10.0 into include/gpunet/version.hpp"
check "and changes nothing" unchanged

echo change >>"$project/CHANGELOG.md"
run "$release" 1.10.0
check "it refuses a changed file" says "the working tree has changes"
in_project checkout -q CHANGELOG.md

printf '#!/bin/sh\nexit 1\n' >"$project/.git/hooks/pre-commit"
chmod +x "$project/.git/hooks/pre-commit"
run "$release" 1.10.0
refuses "nothing was released" "a commit that a hook refuses"
rm "$project/.git/hooks/pre-commit"

run "$release" 1.10.0
check "a release passes" ended_with 0
check "the version is in the header" grep -qxF '#define GPUNET_VERSION "1.10.0"' "$project/include/gpunet/version.hpp"
check "and its parts" test "$(sed -nE 's/^#define GPUNET_VERSION_[A-Z]+ //p' "$project/include/gpunet/version.hpp" | xargs)" = "1 10 0"
check "the date is in the changelog" grep -qx "## 1.10.0 - $(date +%F)" "$project/CHANGELOG.md"
check "the earlier section is as before" grep -qxF '## 0.2.0 - 2026-01-02' "$project/CHANGELOG.md"
check "the commit has the tag" test "$(in_project log -1 --format='%s %D' | grep -c '^Version 1.10.0 .*tag: v1.10.0')" = 1
check "the working tree is clean" test -z "$(in_project status --porcelain)"
run tar tzf "$project/build/gpunet-1.10.0.tar.gz"
check "the archive has a folder of its own" says gpunet-1.10.0/include/gpunet/version.hpp
check "and the page of all errors" says gpunet-1.10.0/docs/all_errors.md

sed -i '1a\\n## 1.10.0 - unreleased' "$project/CHANGELOG.md"
in_project commit -q -a -m second
run "$release" 1.10.0
check "a version is released once" says "the tag v1.10.0 exists (a version is released once), take the next version"

finish

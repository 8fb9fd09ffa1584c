#!/usr/bin/env bash
# bare.sh [option...] [COMMAND]: runs README's commands, or a command of the shell, in a copy of the working tree on a bare
# system: Debian 12 with git and nothing else, made by debootstrap in build/bare.
#   --suite NAME    another version of Debian (default bookworm), or with --mirror of a system like it
#   --mirror URL    where packages come from (default: that of debootstrap)
#   --with PACKAGE  installs a package before; may be given several times
#   --bind PATH     shows a file or folder of this machine at the same place; may be given several times
#   --cache         objects that were compiled before are taken from this machine's ccache, which the system does not see
#   --keep          goes on with the system of the last run, which may have objects and packages
# Needs root. Ends with 77 and a reason on a machine that cannot make one, else with the status of the command.
set -euo pipefail
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

suite=bookworm mirror='' cache='' keep='' packages=() bound=()
while [[ $# -gt 0 && $1 == -* ]]; do
  case $1 in
    --suite | --mirror | --with | --bind)
      [[ $# -ge 2 ]] || fail "bare.sh: $1 wants a value"
      case $1 in
        --suite) suite=$2 ;;
        --mirror) mirror=$2 ;;
        --with) packages+=("$2") ;;
        --bind) bound+=("$(realpath -e "$2")") ;;
      esac
      shift
      ;;
    --cache | --keep) declare "${1#--}=yes" ;;
    --help | -h)
      sed -n '2,/^set /{s/^# \{0,1\}//p}' "${BASH_SOURCE[0]}"
      exit
      ;;
    *) fail "bare.sh: unknown option $1, see --help" ;;
  esac
  shift
done
[[ $# -le 1 ]] || fail "bare.sh: more than one command, quote it"
command=${1:-./scripts/train.sh && ./scripts/test.sh}

cannot() {
  say "no bare system here: $*"
  exit 77
}
[[ $(id -u) == 0 ]] || cannot "it needs root"
unshare --mount --pid --fork true 2>/dev/null || cannot "this system does not let its root mount folders (unshare --mount)"
(need debootstrap) || cannot "debootstrap is missing"

bare=$root/build/bare
base=$bare/$suite system=$bare/system
mkdir -p "$bare/packages"
if [[ ! -d $base ]]; then
  rm -rf "$base.new"
  run_quietly "$bare/debootstrap.log" "making a bare $suite" \
    debootstrap --variant=minbase --include=git "$suite" "$base.new" ${mirror:+"$mirror"} || cannot "debootstrap fails"
  mv "$base.new" "$base"
fi

if [[ -z $keep || ! -d $system ]]; then
  rm -rf "$system"
  cp -a "$base" "$system"
fi
cp -L /etc/resolv.conf "$system/etc/resolv.conf"
# The working tree: what git tracks, and files that it does not ignore.
(cd "$root" && git ls-files -z --cached --others --exclude-standard |
  while IFS= read -rd '' file; do [[ ! -e $file ]] || printf '%s\0' "$file"; done |
  tar --create --null --files-from=-) | (mkdir -p "$system/root/gpunet" && tar --extract --directory "$system/root/gpunet")

# The compiler's cache and the libraries of ccache, beside the system's own.
environment=(PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin HOME=/root "TERM=${TERM:-dumb}")
for name in GPUNET_DEADLINE GPUNET_WERROR; do [[ -z ${!name:-} ]] || environment+=("$name=${!name}"); done
if [[ -n $cache ]] && command -v ccache >/dev/null; then
  use_ccache
  launcher=$system/opt/launcher
  mkdir -p "$launcher/libraries"
  cp "$(command -v ccache)" "$launcher/ccache.real"
  ldd "$launcher/ccache.real" | awk '$3 ~ /^\// { print $3 }' | grep -vE '/(libc|libm|libstdc\+\+|libgcc_s|libpthread)\.' |
    xargs -I{} cp -L {} "$launcher/libraries"
  printf '#!/bin/sh\nLD_LIBRARY_PATH=/opt/launcher/libraries exec /opt/launcher/ccache.real "$@"\n' >"$launcher/ccache"
  chmod +x "$launcher/ccache"
  CCACHE_DIR=$(ccache --get-config cache_dir)
  mkdir -p "$CCACHE_DIR"
  bound+=("$CCACHE_DIR")
  environment+=(CMAKE_CXX_COMPILER_LAUNCHER=/opt/launcher/ccache CCACHE_BASEDIR=/root/gpunet "CCACHE_DIR=$CCACHE_DIR"
    "CCACHE_NOHASHDIR=$CCACHE_NOHASHDIR" "CCACHE_SLOPPINESS=$CCACHE_SLOPPINESS")
fi

if [[ ${#packages[@]} -gt 0 ]]; then
  command="DEBIAN_FRONTEND=noninteractive sh -c 'apt-get -qq update && apt-get -qq -y install --no-install-recommends ${packages[*]}' >/dev/null && $command"
fi
# Mounts are in a name space of their own, and end with it.
# shellcheck disable=SC2016  # of the inner shell
exec unshare --mount --pid --fork --kill-child bash -c '
  set -euo pipefail
  system=$1 packages=$2 command=$3
  shift 3
  mount -t proc proc "$system/proc"
  mount -t tmpfs tmpfs "$system/dev/shm"
  mount --bind "$packages" "$system/var/cache/apt/archives"
  while [[ $1 != -- ]]; do
    if [[ -d $1 ]]; then mkdir -p "$system$1"; else mkdir -p "$(dirname "$system$1")" && touch "$system$1"; fi
    mount --rbind "$1" "$system$1"
    shift
  done
  shift
  exec chroot "$system" env -i "$@" bash -c "cd /root/gpunet && $command"
' bare "$system" "$bare/packages" "$command" "${bound[@]}" -- "${environment[@]}"

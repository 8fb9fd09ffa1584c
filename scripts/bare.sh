#!/usr/bin/env bash
# bare.sh [option...] [COMMAND]: runs README's two commands, or a command of the shell, in a copy of
# the working tree on a bare system: Debian 12 and git, made by debootstrap in build/bare.
#   --suite NAME    another version of Debian (default bookworm)
#   --mirror URL    the source of its packages (default: debootstrap's)
#   --with PACKAGE  installs a package first; may be given several times
#   --bind PATH     shows a file or folder of this machine at the same place; may be given several
#                   times
#   --cache         takes compiled objects from this machine's ccache, which the system does not see
#   --keep          continues with the system of the last run, with its objects and packages
# Needs root. Ends with 77 and a reason on a machine that cannot make such a system, else with the
# status of the command.
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
[[ ${#packages[@]} == 0 ]] || command="(. scripts/lib.sh && need ${packages[*]}) && $command"

cannot() {
  say "no bare system here: $*"
  exit 77
}
[[ $(id -u) == 0 ]] || cannot "it needs root"
unshare --mount --pid --fork true 2>/dev/null || cannot "unshare --mount fails"
(need debootstrap) || cannot "debootstrap is missing"

bare=$root/build/bare
base=$bare/$suite system=$bare/system
mkdir -p "$bare/packages"
if [[ ! -d $base ]]; then
  rm -rf "$base.new"
  run_quietly "$bare/debootstrap.log" "making a bare $suite" debootstrap --variant=minbase \
    --include=git "$suite" "$base.new" ${mirror:+"$mirror"} || cannot "debootstrap fails"
  mv "$base.new" "$base"
fi
if [[ -z $keep || ! -d $system ]]; then
  rm -rf "$system"
  cp -a "$base" "$system"
fi
cp -L /etc/resolv.conf "$system/etc/resolv.conf"

# The copy is at the same place, so that objects and messages are the same.
mkdir -p "$system$root"
git -C "$root" ls-files -z --cached --others --exclude-standard |
  while IFS= read -rd '' file; do [[ ! -e $root/$file ]] || printf '%s\0' "$file"; done |
  tar --create --directory "$root" --null --files-from=- | tar --extract --directory "$system$root"

variables=(GPUNET_DEADLINE GPUNET_WERROR)
if [[ -n $cache ]] && command -v ccache >/dev/null; then
  use_ccache
  launcher=$bare/launcher
  mkdir -p "$launcher/libraries"
  cp "$(command -v ccache)" "$launcher/ccache.real"
  ldd "$launcher/ccache.real" | awk '$3 ~ /^\// { print $3 }' |
    grep -vE '/(libc|libm|libstdc\+\+|libgcc_s|libpthread)\.' |
    xargs -I{} cp -L {} "$launcher/libraries"
  cat >"$launcher/ccache" <<'END'
#!/bin/sh
here=$(dirname "$0")
LD_LIBRARY_PATH=$here/libraries exec "$here/ccache.real" "$@"
END
  chmod +x "$launcher/ccache"
  CCACHE_DIR=$(ccache --get-config cache_dir)
  mkdir -p "$CCACHE_DIR"
  CMAKE_CXX_COMPILER_LAUNCHER=$launcher/ccache
  bound+=("$launcher" "$CCACHE_DIR")
  variables+=(CMAKE_CXX_COMPILER_LAUNCHER CCACHE_DIR CCACHE_BASEDIR CCACHE_NOHASHDIR
    CCACHE_SLOPPINESS)
fi
environment=(PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin HOME=/root)
for name in TERM "${variables[@]}"; do
  [[ -z ${!name:-} ]] || environment+=("$name=${!name}")
done

# Mounts are in a name space of their own, and end with it.
# shellcheck disable=SC2016  # of the inner shell
exec unshare --mount --pid --fork --kill-child bash -c '
  set -euo pipefail
  system=$1 packages=$2 root=$3 command=$4
  shift 4
  mount -t proc proc "$system/proc"
  mount -t tmpfs tmpfs "$system/dev/shm"
  mount -t devpts -o newinstance,ptmxmode=0666 devpts "$system/dev/pts"
  mount --bind "$packages" "$system/var/cache/apt/archives"
  while [[ $1 != -- ]]; do
    mkdir -p "$(dirname "$system$1")"
    if [[ -d $1 ]]; then mkdir -p "$system$1"; else touch "$system$1"; fi
    mount --rbind "$1" "$system$1"
    shift
  done
  shift
  exec chroot "$system" env -i "$@" bash -c "cd \"\$0\" && $command" "$root"
' bare "$system" "$bare/packages" "$root" "$command" "${bound[@]}" -- "${environment[@]}"

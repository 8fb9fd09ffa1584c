# Downloads files. Sourced after lib.sh.
# shellcheck shell=bash

# download FILE URL: downloads the rest of FILE. False if it was interrupted; the part received is kept for the next call.
download() {
  local status=0 progress=--silent
  [[ ! -t 2 ]] || progress=--progress-bar
  if command -v curl >/dev/null; then
    curl --fail --location $progress --show-error --connect-timeout 30 --continue-at - --output "$1" "$2" || status=$?
    case $status in
      33) rm -f "$1" ;;  # the server knows no ranges
      23) status=full ;;
    esac
  elif command -v wget >/dev/null; then
    wget --no-verbose --timeout=30 --tries=1 --continue --output-document="$1" "$2" || status=$?
    [[ $status != 3 ]] || status=full
  else
    fail "no curl and no wget (one of them downloads the data), install one and run this again"
  fi
  [[ $status != full ]] || fail "cannot write to $(dirname "$1") (is the disk full?), free some space and run this again"
  [[ $status == 0 ]]
}

# has_sum FILE MD5
has_sum() { [[ -f $1 && $(md5sum <"$1") == "$2 "* ]]; }

# fetch FILE URL MD5: downloads FILE, continuing with a part of it. Ends the script if that fails.
fetch() {
  if [[ -s $1 ]] && ! has_sum "$1" "$3"; then
    say "continuing the download of $2"
    download "$1" "$2" || [[ ! -e $1 ]] || fail "the download was interrupted (see above), run this again to continue"
    has_sum "$1" "$3" || rm -f "$1"  # its start was of something else
  fi
  [[ ! -s $1 ]] || return 0
  say "downloading $2"
  download "$1" "$2" || fail "the download was interrupted (see above), run this again to continue"
  if ! has_sum "$1" "$3"; then
    rm -f "$1"
    fail "the downloaded file does not have the MD5 sum $3 (it is damaged or another file) and was removed, run this again"
  fi
}

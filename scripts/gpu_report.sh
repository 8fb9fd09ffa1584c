# Runs the parts of gpu_check.sh and reports their results. Sourced, not run.
# shellcheck shell=bash disable=SC2154  # build_dir, results, parts, seconds come from gpu_check.sh

# tell LINE...: prints the lines, and adds them to the report.
tell() { printf '%s\n' "$@" | tee -a "$results/$part.txt"; }
# note NAME ok|bad|cut|none WORDS: records the result of the current part or a piece of it. cut: the time limit was reached, the
# next call continues; none: it could not run here.
note() { printf '%s\t%s\t%s\n' "$1" "$2" "${3:0:500}" >>"$results/$part.notes"; }

deadline=0
left() { echo $((deadline > SECONDS ? deadline - SECONDS : 0)); }
at_least_1() { echo $(($1 > 0 ? $1 : 1)); }
# within COMMAND...: runs it until the deadline at most; then it ends with all that it started, with status 124.
within() { within_seconds "$(left)" "$@"; }
within_seconds() {
  local most=$1
  shift
  [[ $most -gt 0 ]] || return 124
  timeout --kill-after=5 "$most" "$@" </dev/null
}
is_cut() { [[ $1 == 124 || $1 == 137 ]]; }

# run_part NAME: runs the probe (of packed programs only if nothing is known of the GPU) and then the part. False if the parts
# after it cannot run. In the background, since bash handles signals while it waits, but not while a program runs in the
# foreground, and since a process that waits for a driver that hangs cannot be ended, not even waited for; `set -m` keeps the
# default action of SIGINT there.
ran=()
running=  # the process of the current part
grace=20  # seconds after its limit in which it has to end
run_part() {
  local status=0
  part=$1 deadline=$((SECONDS + seconds))
  ran+=("$part")
  rm -f "$results/$part".{notes,txt}
  [[ -n $packed ]] || rm -f "$results"/probe.{notes,txt}
  set -m
  probe_and_run &
  set +m
  running=$!
  while kill -0 "$running" 2>/dev/null && [[ $SECONDS -lt $((deadline + grace)) ]]; do sleep 0.1; done
  if kill -0 "$running" 2>/dev/null; then
    note "$part" bad "did not end within $((seconds + grace)) s and was abandoned (the GPU or its driver hangs)"
    rm -f "$results"/probe.{notes,txt}  # the next part begins with the probe
    end_running KILL
  else
    wait "$running" || status=$?
    running=
  fi
  verdict "$status" >"$results/verdict.txt" || true
  deliver
  [[ $status == 0 && $part == build ]] || return "$status"
  ! has cut build
}
probe_and_run() {
  set +e
  [[ $part != probe && -n $packed ]] && has ok probe || part=probe run_probe || exit 1
  [[ $part != probe ]] || exit 0
  say "$part ..."
  (run_"$part") || note "$part" bad "the script itself failed there (status $?)"
  exit 0
}

# stop STATUS: ends the current part with all that it started, and the script.
stop() {
  [[ -z $running ]] || end_running TERM
  exit "$1"
}
# end_running SIGNAL: the current part, with all that it started.
end_running() {
  # shellcheck disable=SC2046  # one word per process
  kill "-$1" $(tree_of "$running") 2>/dev/null || true
  [[ $1 == KILL ]] || wait "$running" 2>/dev/null || true
  running=
}
# tree_of PROCESS: prints it and its descendants, whatever their process groups: timeout makes one for each command.
tree_of() {
  local child
  echo "$1"
  for child in $(ps -o pid= --ppid "$1"); do tree_of "$child"; done
}

# has STATE PART...: whether one of the parts has a note with that state (a basic regular expression).
has() {
  local state=$1 name
  shift
  for name in "$@"; do
    if grep -qs "$(printf '\t\\(%s\\)\t' "$state")" "$results/$name.notes"; then return 0; fi
  done
  return 1
}

# notes_of PART...: prints their notes, also those of earlier calls.
notes_of() {
  local name
  for name in "$@"; do cat "$results/$name.notes" 2>/dev/null; done
}

# report_json: prints the notes and the benchmarks as JSON.
report_json() {
  local name
  notes_of "${parts[@]}" | awk -F '\t' -v seconds="$SECONDS" -v gpu="${gpu:-}" '
    function quoted(text) {
      gsub(/\\/, "\\\\", text); gsub(/"/, "\\\"", text); gsub(/[[:cntrl:]]/, " ", text)
      return "\"" text "\""
    }
    BEGIN { printf "{\"gpu\": %s, \"seconds\": %d, \"parts\": [", quoted(gpu), seconds }
    { printf "%s\n  {\"part\": %s, \"state\": %s, ", (NR == 1 ? "" : ","), quoted($1), quoted($2) }
    { printf "\"what\": %s}", quoted($3) }
    END { printf "\n]" }'
  for name in bench goals rest; do
    [[ ! -s $build_dir/$name.json ]] || printf ', "%s": %s' "$name" "$(<"$build_dir/$name.json")"
  done
  printf '}\n'
}

# verdict STATUS: prints the notes of all parts and the closing line; returns the exit status of the script.
verdict() {
  local name unknown=() run=(probe ${ran[@]+"${ran[@]}"})
  echo "Verdict, after $SECONDS s${gpu:+ ($gpu)}:"
  notes_of "${parts[@]}" | awk -F '\t' '{ printf "  %-26s %-4s %s\n", $1, $2 == "none" ? "-" : $2, $3 }'
  for name in "${parts[@]}"; do
    [[ -s $results/$name.notes ]] || unknown+=("$name")
  done
  [[ ${#unknown[@]} == 0 ]] || echo "  not run yet: ${unknown[*]}"
  if [[ $1 != 0 ]]; then
    echo "NOT ALL OF IT RAN (status $1)."
    return "$1"
  elif has bad "${run[@]}"; then
    echo "NOT EVERYTHING HOLDS."
    return 1
  elif has cut "${run[@]}"; then
    echo "What was run holds; the time was over: call it again, it continues."
    return 75
  fi
  for name in "${run[@]}"; do
    if ! has ok "$name"; then
      echo "What was run holds; '$name' could not be run."
      return 1
    fi
  done
  if has none "${run[@]}"; then
    echo "What was run holds; not everything could be run."
  elif [[ ${#unknown[@]} != 0 ]] || has "bad\|cut\|none" "${parts[@]}"; then
    echo "What was run now holds."
  else
    echo "EVERYTHING HOLDS."
  fi
}

# Copies the verdict and the results to OUT.
deliver() {
  local file name
  [[ -n ${OUT:-} ]] || return 0
  mkdir -p "$OUT"
  report_json >"$OUT/gpu_check.json"
  for name in "${parts[@]}" verdict; do cat "$results/$name.txt" 2>/dev/null; done >"$OUT/gpu_check.txt"
  for file in build.log tests.log lessons.log sanitizers.log {bench,goals,rest}.{md,log} ncu.csv; do
    [[ ! -s $build_dir/$file ]] || head -c 15000000 "$build_dir/$file" >"$OUT/$file"
  done
}

# Prints the verdict, also after an error, and copies the results to OUT.
finish() {
  local status=$?
  trap - EXIT
  set +e
  verdict "$status" >"$results/verdict.txt"
  status=$?
  cat "$results/verdict.txt"
  deliver
  [[ -z ${OUT:-} ]] || say "written: $OUT/gpu_check.json, $OUT/gpu_check.txt, logs"
  exit "$status"
}

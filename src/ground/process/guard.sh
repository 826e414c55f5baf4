#!/bin/sh
# Runs one program and ends it when whoever started us is gone, however it went (a kill -9 included).
# Standard input is a pipe that only our parent holds open: its end of file means "stop", on purpose or by death.
# usage: guard.sh LIMIT_SECONDS PID_FILE PROGRAM [ARGUMENT ...]    the program's exit code is passed on
limit=$1
pid_file=$2
shift 2
exec 3<&0 </dev/null

"$@" 3<&- &
program=$!

(
  while read -r _ <&3; do :; done
  # Once the program has ended we are told so, and must not leave the sleep behind.
  trap 'kill "$!"; exit 0' TERM
  sleep "$limit" &
  kill -TERM "$program"
  wait "$!"
  kill -KILL "$program"
) 2>/dev/null &
watcher=$!

# A signal meant for the whole group must not end the guard before its program. Only now: the watcher must not inherit this.
trap : HUP INT TERM
echo "$program" >"$pid_file"

code=129
while [ "$code" -gt 128 ]; do
  wait "$program"
  code=$?
  # A wait that one of the signals above cut short also answers above 128; then the program is still there.
  kill -0 "$program" 2>/dev/null || break
done
rm -f "$pid_file"
kill -TERM "$watcher" 2>/dev/null
exit "$code"

#!/bin/sh
# Runs workerd so that it ends with the process that started it, also after a kill -9. Otherwise workerd would continue
# to hold the port and the data. The kernel does that on Linux (PR_SET_PDEATHSIG). Where setpriv is missing (macOS),
# only a clean stop and a kill of the whole process group end it.
# Ctrl-C reaches the whole process group, but only the parent handles it.
trap '' INT
if [ -n "$TAFFRAIL_RUN_DIR" ]; then
  # Only the owner may open the directory (mode 700) and its sockets. Sockets of an earlier run would block new ones.
  cd "$TAFFRAIL_RUN_DIR" || exit 1
  rm -f entry.sock control.sock
  # The simulator's entry obeys headers that name another URL and host. On a TCP port, any process of this machine could
  # send them.
  first=$1
  shift
  for argument; do
    shift
    case $argument in
    --socket-addr=entry=*) argument=--socket-addr=entry=unix:entry.sock ;;
    esac
    set -- "$@" "$argument"
  done
  if [ -n "$TAFFRAIL_CONTROL" ]; then
    set -- "--socket-addr=$TAFFRAIL_CONTROL=unix:control.sock" "$@"
  fi
  if [ -n "$TAFFRAIL_INSPECTOR" ]; then
    set -- "--inspector-addr=$TAFFRAIL_INSPECTOR" "$@"
  fi
  set -- "$first" "$@"
fi
if setpriv --help 2>/dev/null | grep -q pdeathsig; then
  exec setpriv --pdeathsig KILL -- "$TAFFRAIL_WORKERD" "$@"
fi
exec "$TAFFRAIL_WORKERD" "$@"

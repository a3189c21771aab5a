#!/bin/sh
# Runs workerd so that it ends with the process that started it, however that ends: after a kill -9 nobody is left to
# stop it, and it would go on holding the port and the data. The kernel does that on Linux (PR_SET_PDEATHSIG); where
# setpriv is missing (macOS), only a clean stop and a kill of the whole process group end it.
# Ctrl-C reaches the whole process group: the parent alone decides what it means.
trap '' INT
if [ -n "$TAFFRAIL_RUN_DIR" ]; then
  # The directory is the owner's alone (mode 700), so its sockets are, too. Sockets of an earlier run would be in the way.
  cd "$TAFFRAIL_RUN_DIR" || exit 1
  rm -f entry.sock control.sock
  # The simulator's own entry obeys headers that name another URL and host: on a TCP port, any process of this machine could
  # reach it.
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

#!/bin/sh
# Runs workerd so that it ends with the process that started it, however that ends: after a kill -9 nobody is left to
# stop it, and it would go on holding the port and the data. The kernel does that on Linux (PR_SET_PDEATHSIG); where
# setpriv is missing (macOS), only a clean stop and a kill of the whole process group end it.
# Ctrl-C reaches the whole process group: the parent alone decides what it means.
trap '' INT
if setpriv --help 2>/dev/null | grep -q pdeathsig; then
  exec setpriv --pdeathsig KILL -- "$TAFFRAIL_WORKERD" "$@"
fi
exec "$TAFFRAIL_WORKERD" "$@"

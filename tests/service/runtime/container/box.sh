#!/bin/sh
# Runs a command as a container with a read-only root file system would, without capabilities: only /tmp, which is empty
# at first, and the data folder can be written to. Run it by `unshare --mount`, as root.
# box.sh DATA KEPT... -- COMMAND...: DATA and the folders KEPT stay where they are, below /tmp too.
set -e
mount --make-rprivate /
mount -t tmpfs none /mnt
for folder in "$@"; do
  [ "$folder" != -- ] || break
  mkdir -p "/mnt$folder"
  mount --bind "$folder" "/mnt$folder"
done
mount -t tmpfs none /tmp
data=$1
mkdir -p "$data"
mount --bind "/mnt$data" "$data"
shift
while [ "$1" != -- ]; do
  mkdir -p "$1"
  mount --bind "/mnt$1" "$1"
  mount -o remount,bind,ro "$1"
  shift
done
shift
mount -o remount,bind,ro /mnt
mount -o remount,bind,ro /
exec setpriv --no-new-privs --inh-caps=-all --bounding-set=-all "$@"

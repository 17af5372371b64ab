#!/bin/sh
# Runs a container of a pod as a process: a read-only root file system with this machine's programs, the pod's volumes,
# one user, no capabilities, the pod's name as the host's. Run it by `unshare --mount --uts`, as root.
# pod.sh MOUNTS UID GID GROUPS NAME -- COMMAND...: MOUNTS is a file with lines SOURCE TARGET ro|rw.
set -e
mounts=$1 uid=$2 gid=$3 groups=$4 name=$5
shift 6
echo "$name" >/proc/sys/kernel/hostname
root=/mnt
mount --make-rprivate /
mount -t tmpfs -o mode=755 none $root
bind() {
  mount --bind "$1" "$2"
  [ "$3" = rw ] || mount -o remount,bind,ro "$2"
}
for part in bin lib lib32 lib64 sbin usr; do
  if [ -L "/$part" ]; then
    cp -P "/$part" "$root/$part"
  elif [ -d "/$part" ]; then
    mkdir "$root/$part"
    bind "/$part" "$root/$part" ro
  fi
done
cp -a /etc "$root/etc"
for part in dev proc; do
  mkdir "$root/$part"
  mount --rbind "/$part" "$root/$part"
done
mkdir "$root/tmp" "$root/var"
while read -r source target mode; do
  if [ -d "$source" ]; then
    mkdir -p "$root$target"
  else
    mkdir -p "$root${target%/*}"
    [ -e "$root$target" ] || : >"$root$target"
  fi
  bind "$source" "$root$target" "$mode"
done <"$mounts"
mount -o remount,ro $root
exec /usr/sbin/chroot $root env --chdir=/tmp setpriv --reuid "$uid" --regid "$gid" --groups "$groups" \
  --no-new-privs --inh-caps=-all --bounding-set=-all "$@"

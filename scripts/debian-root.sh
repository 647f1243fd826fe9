# Sourced by the scripts that make a root of another Debian beside the machine's own, keep it and run programs in it. They set
# `source`, the tree of tacho, and call open_root before anything else.
script=$(basename "$0")
part=  # of a root that is being made

refuse() {
  echo "$script: $1" >&2
  exit 2
}

# open_root SUITES NAME DEFAULT [ARGUMENTS]: takes the directory `root` from the script's arguments; it may hold a root of one of the
# suites, parted by |. Behind it what the script mounts is seen by it and its children alone, and is gone with them.
open_root() {
  suites=$1 release=$2
  local default=$3
  shift 3
  [ $# -le 1 ] || refuse "takes one directory at most: scripts/$script [DIR]"
  case ${1:-} in -*) refuse "unknown option '$1'; it takes the directory of the root only: scripts/$script [DIR]" ;; esac
  [ "$(id -u)" -eq 0 ] || refuse "needs root, which makes and enters a root of $release: sudo scripts/$script"
  root=$(realpath -m "${1:-$default}")
  if ! is_made && [ -n "$(ls -A "$root" 2>/dev/null)" ]; then
    refuse "$root holds something else than a root of $release; name another directory"
  fi
  if [ -z "${TACHO_ROOT_MOUNTS:-}" ]; then
    exec env TACHO_ROOT_MOUNTS=private unshare --mount --propagation private "$0" "$@"
  fi
}

is_made() { grep -qE "^deb [^ ]* ($suites) " "$root/etc/apt/sources.list" 2>/dev/null; }

find_mirror() {
  "$source/scripts/install-dependencies" root
  mirror=$(apt-get indextargets --format '$(SITE)' 'Created-By: Packages' | awk '/\/debian\/*$/ && !found++')
  [ -n "$mirror" ] || refuse "apt knows no mirror of Debian here, from which to take $release"
}

# is_in_date SUITE: whether apt would install from what the mirror has of it; debootstrap does not ask.
is_in_date() {
  local until
  until=$(wget -qO- "$mirror/dists/$1/InRelease" | sed -n 's/^Valid-Until: //p') || return 1
  [ -z "$until" ] || [ "$(date -d "$until" +%s)" -gt "$(date +%s)" ]
}

# make_root SUITE [OPTIONS]: of debootstrap. The root is made beside its place, so what is there is whole.
make_root() {
  local suite=$1
  shift
  echo "Making a root of Debian $suite in $root" >&2
  part=$root.part
  trap 'rm -rf "$part" "$part.log"' EXIT
  rm -rf "$part"
  mkdir -p "$(dirname "$root")"
  debootstrap --variant=minbase "$@" "$suite" "$part" "$mirror" >"$part.log" 2>&1 || { tail -3 "$part.log" >&2; exit 1; }
  [ ! -d "$root" ] || rmdir "$root"
  mv "$part" "$root"
}

mount_all() {
  mount --bind "$root" "$root"  # the root of a namespace has to be a mount
  mount -t proc proc "$root/proc"
  mount --rbind /sys "$root/sys"
  mount --rbind /dev "$root/dev"
  cp -L /etc/resolv.conf /etc/hosts "$root/etc/"
}

# in_root FOLDER COMMAND...: as the root of its own namespace, not by chroot: nsenter, with which tests enter hosts, would leave that.
in_root() {
  unshare --mount --propagation private bash -c '
    cd "$1" && pivot_root . mnt && umount -l /mnt && cd "$2" && shift 2 &&
    exec env -i HOME=/root PATH=/usr/sbin:/usr/bin:/sbin:/bin LANG=C.UTF-8 "$@"' in_root "$root" "$@"
}

say_where() {
  echo "The root is kept in $root ($(du -sh --one-file-system "$root" | cut -f1)); to remove it: rm -rf $root" >&2
}

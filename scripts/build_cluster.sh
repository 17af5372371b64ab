#!/usr/bin/env bash
# Builds what `make cluster-test` runs: Kubernetes' API server, controllers, scheduler and kube-proxy, and etcd.
# A second run finds the binaries of the same go.mod, and takes no time.
set -euo pipefail
cd "$(dirname "$0")/.."
modules=tests/cluster/binaries folder=$PWD/build/cluster

say() { printf 'lineward: %s\n' "$*" >&2; }
die() { say "$*"; exit 1; }

# kube-proxy calls it, in a network of its own.
[ -x /usr/sbin/nft ] || command -v nft >/dev/null || die "nftables is missing: install it (on Debian: apt-get install nftables) and run this again."
key=$(cat $modules/go.mod $modules/go.sum | sha256sum | cut -c1-16)
[ ! -e "$folder/whole-$key" ] || exit 0
command -v go >/dev/null || die "Go 1.26 or newer is missing, which builds Kubernetes for the tests: install it and run this again."

say "building Kubernetes and etcd for the tests, once: about 7 CPU minutes, and 3.5 GB in Go's caches"
rm -rf "$folder"; mkdir -p "$folder"
cd $modules
version=$(go list -m -f '{{.Version}}' k8s.io/kubernetes)
minor=${version#v1.}
of=k8s.io/component-base/version
# Helm compares the version with what the chart asks for.
named="-X $of.gitVersion=$version -X $of.gitMajor=1 -X $of.gitMinor=${minor%%.*}"
build() { nice -n 10 go build -trimpath -buildvcs=false -ldflags "-s -w $named" -o "$@"; }
build "$folder/etcd" go.etcd.io/etcd/server/v3
build "$folder/" k8s.io/kubernetes/cmd/kube-{apiserver,controller-manager,scheduler,proxy}
touch "$folder/whole-$key"

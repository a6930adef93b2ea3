#!/bin/sh
# Creates a Redis Cluster, with a replica for every master, from the nodes given as HOST:PORT. If the
# cluster exists already, it only waits until the cluster is ready.
set -eu

say() { echo "create-cluster: $*"; }
ask() { node=$1; shift; redis-cli -h "${node%:*}" -p "${node##*:}" "$@"; }
knows() { ask "$1" cluster info | tr -d '\r' | grep -qx "$2"; }
replicas() { ask "$1" cluster nodes | grep -c slave || true; }

for node in "$@"; do
  until ask "$node" ping 2>/dev/null | grep -qx PONG; do
    say "waiting until $node answers"
    sleep 1
  done
done

if knows "$1" "cluster_known_nodes:1"; then
  redis-cli --cluster create "$@" --cluster-replicas 1 --cluster-yes
fi

for node in "$@"; do
  until knows "$node" "cluster_state:ok" && [ "$(replicas "$node")" -eq $(($# / 2)) ]; do
    say "waiting until $node sees the whole cluster"
    sleep 1
  done
done
say "the cluster of $# nodes is ready"

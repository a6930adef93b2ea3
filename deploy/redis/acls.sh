#!/bin/sh
# Allows each service of Freshet in Redis 7 or later what it needs, and nothing else. Run it as a
# user who may change users, with the options by which redis-cli connects; in a Redis Cluster once
# for every node:
#
#   deploy/redis/acls.sh -h redis -p 6379
#
# MODEL      the model, as the services have it
# PREFIX     what the names of the users begin with: PREFIXupdater, PREFIXaggregator, …
# PASSWORDS  a folder with a file for each user, named like the service, that holds the password
#
# The console does not use Redis.
set -eu
MODEL=${MODEL:-default}
PREFIX=${PREFIX:-freshet-}

connection=$*
user() { # SERVICE RULES: replaces the user
  service=$1
  shift
  # shellcheck disable=SC2086
  answer=$(redis-cli $connection ACL SETUSER "$PREFIX$service" reset on ">$(cat "$PASSWORDS/$service")" "$@")
  [ "$answer" = OK ] || { echo "acls.sh: $PREFIX$service: $answer" >&2; exit 1; }
}

# What a client asks when it connects, and the sign of life that every service writes to the
# manifest. Commands within a script are checked like any others.
cluster="+cluster|slots +cluster|shards +cluster|nodes +cluster|info"
member="+ping +info +time $cluster +eval +evalsha +type
  ~$MODEL:manifest +get +hexists +hget +hmget +hgetall +hset +hdel"

# The updater alone writes what is learnt. The rules of a member are split at blanks.
# shellcheck disable=SC2086
user updater $member "~$MODEL:{*" +hscan +set +append +del +unlink
for service in aggregator scorer; do
  # shellcheck disable=SC2086
  user "$service" $member "(%R~$MODEL:{* +get +hget +hmget +hscan)" "(~$MODEL:{* +eval +evalsha)"
done
# Whoever runs the command freshet.
# shellcheck disable=SC2086
user operator "~$MODEL:*" +@read +@write +@scripting +@transaction +@connection \
  -@dangerous +info +time $cluster

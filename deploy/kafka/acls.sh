#!/bin/sh
# Allows each service of Freshet in Kafka what it needs, and nothing else. Run it as a user who may
# alter ACLs, with the options by which that user connects:
#
#   deploy/kafka/acls.sh --bootstrap-server kafka:9092 --command-config admin.properties
#
# MODEL            the model, as the services have it
# RATINGS_TOPICS   the source topics, with commas, as the services have them
# REPLY_TOPICS     the topics that a request may name for its answer, as the scorer has them
# PREFIX           what the names of the users begin with: PREFIXupdater, PREFIXaggregator, …
# KAFKA_ACLS       the command of your distribution
set -euf
MODEL=${MODEL:-default}
RATINGS_TOPICS=${RATINGS_TOPICS:-ratings}
REPLY_TOPICS=${REPLY_TOPICS:-recommendations,recommendations-*}
PREFIX=${PREFIX:-freshet-}
KAFKA_ACLS=${KAFKA_ACLS:-kafka-acls.sh}

each() { # OPTION NAME,NAME: the option once for each name
  option=$1
  echo "$2" | tr ',' '\n' | while read -r name; do [ -z "$name" ] || printf -- '%s %s ' "$option" "$name"; done
}

connection=$*
allow() { # SERVICE OPERATIONS --topic|--group NAMES [literal|prefixed]
  # Names of topics and groups have no blanks, so splitting at blanks is right here.
  # shellcheck disable=SC2046,SC2086
  $KAFKA_ACLS $connection --add --allow-principal "User:$PREFIX$1" \
    $(each --operation "$2") $(each "$3" "$4") --resource-pattern-type "${5:-literal}"
}

model() { # NAMES: the names of topics of the model
  echo "$1" | sed "s/[^,]*/$MODEL.&/g"
}

# A * stands for any text. Kafka has no pattern for one within a name.
replies= beginnings=
for name in $(echo "$REPLY_TOPICS" | tr ',' ' '); do
  case $name in
    '*') replies=$replies,$name ;;
    *'*'?*) echo "acls.sh: REPLY_TOPICS has $name: Kafka can allow a * only at the end" >&2; exit 2 ;;
    *'*') beginnings=$beginnings,${name%?} ;;
    *) replies=$replies,$name ;;
  esac
done

shared=ratings-dead-letter,items,recommendation-requests,recommendations

# Every service compares the topics with its settings when it starts. Describe shows no record.
for service in updater aggregator scorer console; do
  allow "$service" Describe --topic "$MODEL." prefixed
  allow "$service" Describe --topic "$RATINGS_TOPICS,$shared"
  allow "$service" Describe --group "$MODEL." prefixed
  # What a process follows alone has a group with a random name, which is deleted at the end.
  allow "$service" Read,Delete --group "$MODEL.tail." prefixed
done

allow updater Read --topic "$RATINGS_TOPICS,$(model user-ratings,item-ratings,item-factors,grams,claims)"
allow updater Write --topic "ratings-dead-letter,$(model user-ratings,item-ratings,user-factors,item-factors,gram-parts,claims)"
allow updater Read --group "$MODEL.intake." prefixed
allow updater Read --group "$MODEL.updater." prefixed

allow aggregator Read --topic "$(model gram-parts,grams)"
allow aggregator Write --topic "$(model grams)"
allow aggregator Read --group "$MODEL.aggregator"

allow scorer Read --topic "items,recommendation-requests,$(model user-factors,item-factors,grams)"
allow scorer Write --topic "recommendations,ratings-dead-letter,${RATINGS_TOPICS%%,*}$replies"
[ -z "$beginnings" ] || allow scorer Write --topic "$beginnings" prefixed
allow scorer Read --group "$MODEL.scorer,$MODEL.push"

allow console Read --topic ratings-dead-letter

# Whoever runs the command freshet: creates topics, imports, replays letters, rebuilds, audits.
allow operator All --topic "$MODEL." prefixed
allow operator Create,Read,Write --topic "$RATINGS_TOPICS,$shared"
allow operator All --group "$MODEL." prefixed

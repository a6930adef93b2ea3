#!/bin/sh
# Rates, asks and reads the answer with nothing but Kafka.
# Usage: sh kcat.sh [BROKERS]
set -eu
brokers=${1:-127.0.0.1:9092}
tab=$(printf '\t')

echo "me$tab{\"user\":\"me\",\"item\":\"the-bold-summit-i48\",\"value\":5}" |
  kcat -P -b "$brokers" -t ratings -K "$tab"

# A deadline in ms since 1970: nobody is answered who has stopped waiting.
id="ask-$$"
echo "me$tab{\"user\":\"me\",\"n\":3}" |
  kcat -P -b "$brokers" -t recommendation-requests -K "$tab" \
    -H "correlation-id=$id" -H "deadline=$(($(date +%s) * 1000 + 30000))"

# The answer has the request's correlation id.
for _ in 1 2 3 4 5 6 7 8 9 10; do
  kcat -C -b "$brokers" -t recommendations -o beginning -e -q -f '%h %s\n' | grep "correlation-id=$id" && exit 0
  sleep 1
done
echo 'no answer within 10 s' >&2
exit 1

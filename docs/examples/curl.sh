#!/bin/sh
# Rates over HTTP and reads the rating back in the very next list.
# Usage: sh curl.sh [URL]
set -eu
url=${1:-http://127.0.0.1:8080}

# Prints {"ratings":[{"partition":P,"offset":O}]}: where the rating lies.
placed=$(curl -sS --fail-with-body "$url/v1/ratings" \
  -H 'content-type: application/json' \
  -d '{"user":"me","item":"the-bold-summit-i48","value":5}')
echo "$placed"

# after=P:O waits until that rating is in the answer.
after=$(echo "$placed" | sed 's/.*"partition":\([0-9]*\),"offset":\([0-9]*\).*/\1:\2/')
curl -sS --fail-with-body "$url/v1/recommendations/me?n=3&after=$after"
echo

"""Rates over Kafka, asks over HTTP for a list that knows of the rating, and receives a pushed list.

    pip install requests confluent-kafka
    python example.py [BROKERS] [URL]

A list is pushed only where the scorer runs with PUSH=true. HTTP_TOKEN is that of the scorer, if it has one.
"""

import json
import os
import sys
import time

import requests
from confluent_kafka import Consumer, Producer

BROKERS = sys.argv[1] if len(sys.argv) > 1 else "127.0.0.1:9092"
URL = sys.argv[2] if len(sys.argv) > 2 else "http://127.0.0.1:8080"

# One session keeps its connections, so that a request does not begin with a new one.
http = requests.Session()
if os.environ.get("HTTP_TOKEN"):
    http.headers["Authorization"] = f"Bearer {os.environ['HTTP_TOKEN']}"


def rate(producer, user, item, value):
    """Sends one rating; returns where it lies, as `after` takes it."""
    placed = []

    def delivered(error, message):
        if error is not None:
            raise RuntimeError(f"the rating was not accepted: {error}")
        placed.append(f"{message.topic()}/{message.partition()}:{message.offset()}")

    # Any key will do. With the user as the key, ratings of one user keep their order.
    rating = {"user": user, "item": item, "value": value, "time": int(time.time() * 1000)}
    producer.produce("ratings", key=user, value=json.dumps(rating), on_delivery=delivered)
    producer.flush()
    return placed[0]


def recommend(user, after, n=3, limit_s=10):
    """Asks for a list that knows of the rating at `after`."""
    deadline = time.monotonic() + limit_s
    while True:
        answer = http.get(
            f"{URL}/v1/recommendations/{requests.utils.quote(user, safe='')}",
            params={"n": n, "after": after},
            timeout=limit_s,
        )
        # 409: not learnt yet. 429 and 503: ask again after as many seconds as the answer says.
        if answer.status_code not in (409, 429, 503) or time.monotonic() > deadline:
            answer.raise_for_status()
            return answer.json()
        time.sleep(float(answer.headers.get("Retry-After", 0.05)))


def from_now(consumer, partitions):
    """Begins at the ends of the partitions: what was pushed before is of no interest."""
    for partition in partitions:
        _, partition.offset = consumer.get_watermark_offsets(partition)
    consumer.assign(partitions)


def pushed_list(consumer, user, limit_s=30):
    """Waits for a list of this user that nobody asked for."""
    deadline = time.monotonic() + limit_s
    while time.monotonic() < deadline:
        message = consumer.poll(0.5)
        if message is None or message.error():
            continue
        is_push = any(name == "freshet-push" for name, _ in message.headers() or [])
        if is_push and message.key() == user.encode():
            return json.loads(message.value())
    sys.exit(f"no list was pushed for {user} within {limit_s} s: does the scorer run with PUSH=true?")


def main():
    consumer = Consumer({"bootstrap.servers": BROKERS, "group.id": f"example-{time.time_ns()}"})
    consumer.subscribe(["recommendations"], on_assign=from_now)
    while not consumer.assignment():
        consumer.poll(0.1)
    producer = Producer({"bootstrap.servers": BROKERS, "compression.type": "snappy"})

    after = rate(producer, "python", "the-bold-summit-i48", 5)
    print(json.dumps(recommend("python", after)))
    print(json.dumps(pushed_list(consumer, "python")))
    consumer.close()


if __name__ == "__main__":
    main()

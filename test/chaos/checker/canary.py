"""
How long Kafka itself could not be written, beside what Duelog made of it: one record at a time to each partition of a topic with the
same replication, acknowledged by all replicas in sync, by librdkafka. It answers commands, one JSON object a line, by one each.

    {"cmd": "window", "at": ms}       writes count from then on
    {"cmd": "gap"}                    the longest that a write took or has taken so far, in ms, and to which partition it went
    {"cmd": "end"}

Arguments: one JSON object with brokers, topic and partitions.
"""

import json
import os
import select
import sys
import time

from confluent_kafka import Producer

# More of them would be a load of their own on a small machine.
PAUSE_S = 0.5


class Writes:
    """One write after another to each partition, and how long the longest took."""

    def __init__(self, options):
        self._topic = options["topic"]
        self._producer = Producer(
            {
                "bootstrap.servers": options["brokers"],
                "acks": "all",
                "linger.ms": 0,
                "message.timeout.ms": 0,
                # Who waits longest here must be Kafka: a leader that is lost is left at once, and a new one is found at once.
                "socket.timeout.ms": 3000,
                "topic.metadata.refresh.interval.ms": 1000,
                "retry.backoff.ms": 100,
                "retry.backoff.max.ms": 250,
                "reconnect.backoff.ms": 100,
                "reconnect.backoff.max.ms": 250,
                "log_level": 0,
            }
        )
        self._partitions = range(options["partitions"])
        self._sent_at = {}  # by partition: when the write under way began
        self._next_at = {partition: 0.0 for partition in self._partitions}
        self.begin_window(0)

    def begin_window(self, at):
        self._from = at
        self._longest = (0, None)

    def write(self):
        now = time.time() * 1000
        for partition in self._partitions:
            if partition not in self._sent_at and now >= self._next_at[partition]:
                self._sent_at[partition] = now
                self._producer.produce(self._topic, b"canary", partition=partition, on_delivery=self._delivered)
        self._producer.poll(0.05)

    def _delivered(self, error, message):
        now = time.time() * 1000
        partition = message.partition()
        # What is refused has not been written: the time goes on.
        if error is not None:
            self._producer.produce(self._topic, b"canary", partition=partition, on_delivery=self._delivered)
            return
        self._measure(partition, now)
        del self._sent_at[partition]
        self._next_at[partition] = now + PAUSE_S * 1000

    def _measure(self, partition, now):
        took = now - max(self._from, self._sent_at[partition])
        if took > self._longest[0]:
            self._longest = (took, partition)

    def gap(self):
        now = time.time() * 1000
        for partition in self._sent_at:
            self._measure(partition, now)
        took, partition = self._longest
        return {"ms": round(took), "partition": partition}


def main():
    writes = Writes(json.loads(sys.argv[1]))
    print(json.dumps({"ready": True}), flush=True)
    pending = b""
    while True:
        writes.write()
        while select.select([sys.stdin], [], [], 0)[0]:
            chunk = os.read(0, 65536)
            if chunk == b"":
                return  # whoever asks is gone
            pending += chunk
            while b"\n" in pending:
                line, _, pending = pending.partition(b"\n")
                command = json.loads(line)
                if command["cmd"] == "end":
                    return
                if command["cmd"] == "window":
                    writes.begin_window(command["at"])
                    print("{}", flush=True)
                else:
                    print(json.dumps(writes.gap()), flush=True)


main()

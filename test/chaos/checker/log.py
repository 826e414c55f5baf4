"""Reads topics as a reader of committed records, from their beginning on, with librdkafka."""

import io
import json
import time
import urllib.request

import fastavro
from confluent_kafka import Consumer, TopicPartition

HEADER_BYTES = 5  # a zero, then the schema's id in four bytes, big endian
PATIENCE_S = 60


class Follower:
    def __init__(self, brokers, registry_url, prefix, target_topics):
        self._registry_url = registry_url
        self._schemas = {}
        self._prefix = prefix + "executions."
        self._targets = set(target_topics)
        self._consumer = Consumer(
            {
                "bootstrap.servers": brokers,
                "group.id": "chaos-checker",
                "enable.auto.commit": False,
                "isolation.level": "read_committed",
                "auto.offset.reset": "error",
                # A leader that is cut off is left within seconds.
                "topic.metadata.refresh.interval.ms": 3000,
                "socket.timeout.ms": 10000,
                "reconnect.backoff.max.ms": 1000,
                "log_level": 0,
            }
        )
        self._consumer.assign(self._partitions())

    def _partitions(self):
        until = time.time() + PATIENCE_S
        while True:
            topics = self._consumer.list_topics(timeout=PATIENCE_S).topics
            wanted = [
                name
                for name in topics
                if name in self._targets or (name.startswith(self._prefix) and name != self._prefix + "dlq")
            ]
            if self._targets.issubset(wanted) and len(wanted) > len(self._targets):
                return [TopicPartition(name, number, 0) for name in wanted for number in topics[name].partitions]
            if time.time() > until:
                raise SystemExit(f"The topics to be read are not there; there are {sorted(topics)}.")
            time.sleep(0.2)

    def read(self, judge, lead_ms, ahead_lead_ms):
        """Hands what has come meanwhile to the judge; returns how many records."""
        messages = self._consumer.consume(1000, 0.2)
        for message in messages:
            if message.error() is not None:
                continue  # librdkafka tries again by itself; what stays unread shows as lost
            appended_at = message.timestamp()[1]
            topic, partition = message.topic(), message.partition()
            place = f"{topic}/{partition}/{message.offset()}"
            if topic in self._targets:
                headers = dict(message.headers() or [])
                job_id = headers["duelog-job-id"].decode()
                run_no = int(headers["duelog-run-no"])
                nominal = int(headers["duelog-scheduled-for"])
                judge.record(job_id, run_no, 1, nominal, appended_at, partition, 0, place)
            else:
                value = self._decode(message.value())
                lead = ahead_lead_ms if topic.endswith(".ahead") else lead_ms
                judge.record(
                    value["jobId"],
                    value["runNo"],
                    value["attempt"],
                    value["scheduledFor"],
                    appended_at,
                    partition,
                    lead,
                    place,
                )
        return len(messages)

    def _decode(self, value):
        schema_id = int.from_bytes(value[1:HEADER_BYTES], "big")
        if schema_id not in self._schemas:
            with urllib.request.urlopen(f"{self._registry_url}/schemas/ids/{schema_id}", timeout=10) as answer:
                self._schemas[schema_id] = fastavro.parse_schema(json.loads(json.load(answer)["schema"]))
        return fastavro.schemaless_reader(io.BytesIO(value[HEADER_BYTES:]), self._schemas[schema_id])

    def close(self):
        self._consumer.close()

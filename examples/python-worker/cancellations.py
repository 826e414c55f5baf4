"""
Reads the cancelled attempts from worker-control. A worker may omit this. Then a cancelled handler runs to its end, and the owner
ignores its report.
"""

import threading

from confluent_kafka import OFFSET_BEGINNING, TIMESTAMP_NOT_AVAILABLE, Consumer, KafkaError, TopicPartition

from records import Undecodable

KEPT_MAX = 100_000
CATCH_UP_SECONDS_MAX = 3


class Cancellations:
    def __init__(self, common, records, prefix, pool, instance, on_cancel):
        self._records, self._topic, self._on_cancel = records, f"{prefix}worker-control", on_cancel
        # Every worker reads the whole topic, so it assigns the partitions to itself. The group is only a name.
        group = f"{prefix}control.{pool}.{instance}"
        self._consumer = Consumer(
            {
                **common,
                "group.id": group,
                "enable.auto.commit": False,
                "isolation.level": "read_committed",
                "enable.partition.eof": True,
            }
        )
        self._thread = threading.Thread(target=self._read, name="cancellations", daemon=True)
        self._lock = threading.Lock()
        self._kept = {}  # (job, run, attempt) -> whether the cancellation applies to an execution
        self._behind = set()  # partitions whose records from before our start are not all read
        self._caught_up = threading.Event()
        self._stopped = False

    def start(self):
        """Returns when all cancellations from before our start are known, or after some seconds."""
        partitions = self._consumer.list_topics(self._topic, timeout=10).topics[self._topic].partitions
        # From the beginning, which is an hour ago: the cancelled attempts may still wait for us in a backlog.
        self._consumer.assign([TopicPartition(self._topic, each, OFFSET_BEGINNING) for each in partitions])
        self._behind = set(partitions)
        self._thread.start()
        self._caught_up.wait(CATCH_UP_SECONDS_MAX)

    def stop(self):
        self._stopped = True
        self._thread.join(5)
        self._consumer.close()

    def take(self, execution):
        """Whether this attempt was cancelled before it could start."""
        with self._lock:
            is_meant = self._kept.get(key_of(execution))
            if is_meant is None or not is_meant(execution):
                return False
            del self._kept[key_of(execution)]
            return True

    def _read(self):
        while not self._stopped:
            message = self._consumer.poll(0.5)
            if message is None:
                continue
            if message.error() is not None:
                if message.error().code() == KafkaError._PARTITION_EOF:
                    self._behind.discard(message.partition())
                    if not self._behind:
                        self._caught_up.set()
                continue
            try:
                control = self._records.decode(message.value())
            except (Undecodable, OSError):
                continue  # a missed cancellation only wastes the work of a handler
            if control["type"] == "CANCEL":
                self._cancel(control, message.timestamp())

    def _cancel(self, control, timestamp):
        at_ms = 0 if timestamp[0] == TIMESTAMP_NOT_AVAILABLE else timestamp[1]

        def is_meant(execution):
            """A job that was deleted and defined again counts its runs from 1 again. Another definition means another run."""
            if key_of(execution) != key_of(control):
                return False
            spec_offset = control["specOffset"]
            return execution["dispatchedAt"] <= at_ms if spec_offset is None else execution["specOffset"] == spec_offset

        with self._lock:
            self._kept[key_of(control)] = is_meant
            if len(self._kept) > KEPT_MAX:
                del self._kept[next(iter(self._kept))]
        self._on_cancel(is_meant)


def key_of(record):
    return record["jobId"], record["runNo"], record["attempt"]

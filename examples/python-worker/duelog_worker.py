"""
A worker of Duelog, as docs/PROTOCOL.md describes one: takes executions from Kafka, holds each until it is due, runs its handler
and reports to the owner of the job. Only the loop of `run` uses the Kafka consumer. Handlers run in their own threads.
"""

import heapq
import itertools
import logging
import os
import secrets
import socket
import time
from concurrent.futures import ThreadPoolExecutor, wait

from confluent_kafka import Consumer, KafkaException, Producer, TopicPartition

from attempt import Attempt, failed, outcome_of
from cancellations import Cancellations
from lanes import Lane
from records import Records, Undecodable

HELD_MAX = 1_000  # read and not started; above this, reading pauses until half have started
HORIZON_MS = 500  # an ahead lane is paused until its first record is due within this time
COMMIT_EVERY_MS = 1_000
REGISTRY_RETRY_MS = 1_000
BEATS_PER_LEASE = 3
LOOP_SECONDS_MAX = 0.1

log = logging.getLogger("duelog")


def now_ms():
    return int(time.time() * 1_000)


class Worker:
    def __init__(self, handlers, *, brokers, registry_url, pool, prefix="duelog.", concurrency=10, name="python"):
        self.handlers, self.pool, self.prefix, self.concurrency = handlers, pool, prefix, concurrency
        self.instance = f"{name}@{socket.gethostname()}:{os.getpid()}:{secrets.token_hex(4)}"
        self.records = Records(registry_url)
        self.events_topic = f"{prefix}execution-events"
        self.encode_event = self.records.encoder(self.events_topic)
        common = {"bootstrap.servers": brokers, "client.id": self.instance}
        self.producer = Producer({**common, "enable.idempotence": True, "linger.ms": 5, "message.timeout.ms": 0})
        self.consumer = Consumer(
            {
                **common,
                "group.id": f"{prefix}exec.{pool}",
                "isolation.level": "read_committed",
                "auto.offset.reset": "earliest",
                "enable.auto.commit": False,
                "session.timeout.ms": 10_000,
                # Workers of Duelog in this pool use it too. With range, one worker gets partition i of every lane.
                "partition.assignment.strategy": "range",
            }
        )
        self.cancellations = Cancellations(common, self.records, prefix, pool, self.instance, self._cancel)
        self.threads = ThreadPoolExecutor(concurrency, thread_name_prefix="handler")
        self.lanes = {}
        self.held, self.ready = [], []  # heaps: by due time; by priority and due time
        self.running = {}  # attempt -> future
        self.full = False
        self.order = itertools.count()
        self.commit_at = 0
        self.stopping = False

    def stop(self):
        """Safe in a signal handler. `run` returns when all attempts are done or given back."""
        self.stopping = True

    def run(self, on_ready=lambda: None, drain_seconds=25):
        lanes = [f"{self.prefix}executions.{self.pool}.{level}" for level in ("high", "normal", "low")]
        self.cancellations.start()

        def assigned(consumer, partitions):
            consumer.assign(partitions)
            consumer.resume(partitions)  # the reason of an earlier pause is over
            for each in partitions:
                self._lane(each.topic, each.partition).gain()
            self.full = False
            on_ready()

        topics = lanes + [lane + ".ahead" for lane in lanes]
        self.consumer.subscribe(topics, on_assign=assigned, on_revoke=self._revoked, on_lost=self._lost)
        while not self.stopping:
            message = self.consumer.poll(self._seconds_to_wait())
            if message is not None and message.error() is None:
                self._take(message)
            elif message is not None:
                log.warning("Kafka says: %s", message.error())
            self._tick()
        self._leave(drain_seconds)

    def _seconds_to_wait(self):
        if not self.held:
            return LOOP_SECONDS_MAX
        return min(max(self.held[0][0] - now_ms(), 1) / 1_000, LOOP_SECONDS_MAX)

    # --- partitions ---

    def _lane(self, topic, partition):
        return self.lanes.setdefault((topic, partition), Lane(topic, partition))

    def _revoked(self, consumer, partitions):
        self._commit()
        self._lost(consumer, partitions)

    def _lost(self, _, partitions):
        for each in partitions:
            self._lane(each.topic, each.partition).lose()

    # --- intake ---

    def _take(self, message):
        lane = self._lane(message.topic(), message.partition())
        try:
            execution = self.records.decode(message.value())
        except Undecodable as error:
            log.error("passed over %s/%s@%s: %s", lane.topic, lane.partition, message.offset(), error)
            execution = None
        except OSError as error:
            log.warning("the registry does not answer, trying again: %s", error)
            return self._leave_in_log(lane, message.offset(), now_ms() + REGISTRY_RETRY_MS)
        if execution and lane.ahead and execution["dueAt"] > now_ms() + HORIZON_MS:
            return self._leave_in_log(lane, message.offset(), execution["dueAt"] - HORIZON_MS)
        entry = lane.take(message.offset(), execution)
        if entry is not None:
            heapq.heappush(self.held, (execution["dueAt"], next(self.order), entry))

    def _leave_in_log(self, lane, offset, until_ms):
        """Bursts wait in Kafka, not in memory: this record is read again shortly before it is due."""
        place = TopicPartition(lane.topic, lane.partition, offset)
        self.consumer.pause([place])
        self.consumer.seek(place)
        lane.paused_until = until_ms

    def _tick(self):
        now = now_ms()
        self._start_due(now)
        self._watch_running(now)
        self.producer.poll(0)  # runs the callbacks of reports that have arrived
        if now >= self.commit_at:
            self._commit(asynchronous=True)
            self.commit_at = now + COMMIT_EVERY_MS
        self._pause_or_resume(now)

    def _pause_or_resume(self, now):
        waiting = len(self.held) + len(self.ready)
        owned = [lane for lane in self.lanes.values() if lane.owned]
        if not self.full and waiting >= HELD_MAX:
            self.full = True
            self.consumer.pause([TopicPartition(lane.topic, lane.partition) for lane in owned])
        reopened = self.full and waiting * 2 <= HELD_MAX
        self.full = self.full and not reopened
        due = [lane for lane in owned if lane.paused_until is not None and lane.paused_until <= now]
        for lane in due:
            lane.paused_until = None
        open_lanes = owned if reopened else [] if self.full else due
        open_lanes = [lane for lane in open_lanes if lane.paused_until is None]
        if open_lanes:
            self.consumer.resume([TopicPartition(lane.topic, lane.partition) for lane in open_lanes])

    # --- runs ---

    def _start_due(self, now):
        while self.held and self.held[0][0] <= now:
            due_at, order, entry = heapq.heappop(self.held)
            heapq.heappush(self.ready, (entry.lane.level, due_at, order, entry))
        while self.ready and len(self.running) < self.concurrency:
            entry = heapq.heappop(self.ready)[-1]
            if entry.state == "held":
                self._start(entry, now)

    def _start(self, entry, now):
        execution = entry.execution
        # The owner knows both without a report.
        if now > execution["startDeadlineAt"] or self.cancellations.take(execution):
            entry.state = "done"
            return
        entry.state = "started"
        attempt = Attempt(entry, now)
        self._report(attempt, {"type": "STARTED", "startedAt": now})
        self.running[attempt] = self.threads.submit(self._run, attempt)

    def _run(self, attempt):
        name = attempt.execution["handler"]
        handler = self.handlers.get(name)
        if handler is None:
            outcome = failed("handler-missing", f'no handler named "{name}" in this worker of pool "{self.pool}"')
        else:
            outcome = outcome_of(handler, attempt)
        self._end(attempt, outcome)

    def _end(self, attempt, outcome):
        """The first outcome counts: that of the handler, its timeout, or its release."""
        if not attempt.end():
            return
        if outcome["type"] != "RELEASED":
            outcome["startedAt"] = attempt.started_at
        self._report(attempt, outcome)

    def _watch_running(self, now):
        for attempt, future in list(self.running.items()):
            if future.done():
                del self.running[attempt]  # its slot is free
            elif attempt.ended:
                continue
            elif now >= attempt.started_at + attempt.execution["attemptTimeoutMs"]:
                self._end(attempt, failed("AttemptTimeout", "the handler did not return in time"))
                attempt.ending.set()
            elif now >= attempt.beat_at + attempt.execution["leaseMs"] / BEATS_PER_LEASE:
                attempt.beat_at = now
                self._report(attempt, {"type": "HEARTBEAT", "progress": attempt.progress, "message": attempt.message})

    def _cancel(self, is_meant):
        """The reader of cancellations calls this. The owner has already ended these runs, so there is nothing to report."""
        for attempt in list(self.running):
            if is_meant(attempt.execution) and attempt.end():
                attempt.ending.set()

    # --- reports ---

    def _report(self, attempt, fields):
        """Sends to the partition that the execution came from, where its owner reads. `specOffset` is unchanged."""
        execution, entry = attempt.execution, attempt.entry
        event = {key: execution[key] for key in ("jobId", "runNo", "attempt", "specOffset")}
        event.update(at=now_ms(), worker=self.instance, **fields)

        def delivered(error, _):
            # The attempt is accepted when the broker has any report of it. From then on the owner's lease applies.
            if error is None:
                entry.state = "done"

        arguments = (self.events_topic, self.encode_event(event), execution["jobId"].encode(), entry.lane.partition, delivered)
        while True:
            try:
                return self.producer.produce(*arguments)
            except BufferError:
                self.producer.poll(0.1)

    def _commit(self, asynchronous=False):
        places = []
        for lane in self.lanes.values():
            offset = lane.committable()
            if offset is not None:
                places.append(TopicPartition(lane.topic, lane.partition, offset))
        if not places:
            return
        try:
            self.consumer.commit(offsets=places, asynchronous=asynchronous)
            for place in places:
                self._lane(place.topic, place.partition).committed(place.offset)
        except KafkaException as error:
            # The next commit covers this one. After a crash before it, some records only come again.
            log.info("could not commit: %s", error)

    # --- stop ---

    def _leave(self, drain_seconds):
        """First other workers get the partitions. Handlers may end within the drain time, and the rest is given back."""
        for lane in self.lanes.values():
            for entry in lane.held():
                entry.state = "started"
                self._end(Attempt(entry, now_ms()), {"type": "RELEASED"})
        self.producer.flush(5)
        self._commit()
        self.consumer.close()
        until = time.monotonic() + drain_seconds
        while self.running and time.monotonic() < until:
            wait(self.running.values(), timeout=LOOP_SECONDS_MAX)
            self._watch_running(now_ms())
            self.producer.poll(0)
        for attempt in self.running:
            self._end(attempt, {"type": "RELEASED"})
            attempt.ending.set()
        self.cancellations.stop()
        self.threads.shutdown(wait=False, cancel_futures=True)
        self.producer.flush(5)

"""What should have happened, recomputed from the log of definitions, and what happened. Knows no Kafka and no Duelog."""

import heapq

# Of what is dispatched for workers: how long before its time it may stand in the log, by the end of the topic's name.
LEAD_MS = 100
AHEAD_LEAD_MS = 120_000
LISTED_MAX = 20


class Job:
    """A job as it was defined: it is due at `first` and each `every` ms after; once where `every` is 0."""

    __slots__ = ("first", "every", "topic", "done", "ahead", "partition", "deleted_from", "deleted_by")

    def __init__(self, first, every, topic):
        self.first = first
        self.every = every
        self.topic = topic
        self.done = 0  # occurrences 0 to done - 1 were seen, each once
        self.ahead = None  # set of later ones that were seen
        self.partition = -1
        self.deleted_from = None  # between these two times it may fire or not
        self.deleted_by = None

    def number_of(self, nominal):
        """Which occurrence is due at this time; None where none is."""
        passed = nominal - self.first
        if passed < 0:
            return None
        if self.every == 0:
            return 0 if passed == 0 else None
        return passed // self.every if passed % self.every == 0 else None

    def nominal(self, number):
        return self.first + number * self.every

    def due_by(self, time):
        """How many occurrences have nominal times up to `time`, and must have happened."""
        if self.deleted_from is not None:
            time = min(time, self.deleted_from)
        if time < self.first:
            return 0
        return 1 if self.every == 0 else (time - self.first) // self.every + 1


class Judge:
    def __init__(self, late_ms=1_000):
        self.late_ms = late_ms  # appended later than this after its time, an occurrence is late
        self.jobs = {}
        self.attempts = set()  # (job, occurrence, attempt) beyond the first
        self.starts = {}  # (job, run, attempt) -> processes in which its handler was started
        self.findings = {
            kind: {"count": 0, "list": []}
            for kind in ("lost", "duplicate", "early", "unknown", "misrouted", "misnumbered", "early-start")
        }
        self.started_again = 0
        self.started_again_in_process = 0
        self.fires = 0
        self.last_append = {}
        self.late_at = 0
        self._coming = []  # heap of (nominal, job, occurrence): the next of each job that `overdue` has not come to
        self._overdue = {}  # (job, occurrence) -> nominal: due, and not seen
        self.begin_window(0)

    def define(self, line):
        kind = line.get("op", "define")
        if kind == "define":
            self.jobs[line["id"]] = Job(line["first"], line["every"], line["topic"])
            heapq.heappush(self._coming, (line["first"], line["id"], 0))
        elif kind == "delete":
            job = self.jobs[line["id"]]
            job.deleted_from, job.deleted_by = line["from"], line["by"]

    def begin_window(self, at):
        self.window_at = at
        self.window_fires = 0
        self.longest_ms = 0
        self.longest_what = None
        self.late_count = 0
        self.last_late_at = None
        self.gap_ms = 0

    def find(self, kind, text):
        found = self.findings[kind]
        found["count"] += 1
        if len(found["list"]) < LISTED_MAX:
            found["list"].append(text)

    def record(self, job_id, run_no, attempt, nominal, appended_at, partition, lead_ms, place):
        """An execution, or a record of a target topic (attempt 1, lead 0), as a reader of committed records sees it."""
        job = self.jobs.get(job_id)
        number = None if job is None else job.number_of(nominal)
        if number is None:
            return self.find("unknown", f"{place}: {job_id} is not due at {nominal}")
        if job.deleted_by is not None and nominal > job.deleted_by:
            return self.find("unknown", f"{place}: {job_id} was deleted before {nominal}")
        if appended_at < nominal - lead_ms:
            self.find("early", f"{place}: {job_id} of {nominal} stands there {nominal - appended_at} ms before")
        if job.partition < 0:
            job.partition = partition
        elif job.partition != partition:
            self.find("misrouted", f"{place}: {job_id} came by partition {job.partition} before")
        if run_no != number + 1:
            self.find("misnumbered", f"{place}: occurrence {number + 1} of {job_id} is run {run_no}")
        if attempt > 1:
            if (job_id, number, attempt) in self.attempts:
                self.find("duplicate", f"{place}: {job_id} of {nominal}, attempt {attempt}")
            self.attempts.add((job_id, number, attempt))
            return None
        return self._first(job, job_id, number, nominal, appended_at, partition, place)

    def _first(self, job, job_id, number, nominal, appended_at, partition, place):
        if number < job.done or (job.ahead is not None and number in job.ahead):
            return self.find("duplicate", f"{place}: {job_id} of {nominal}")
        if number == job.done:
            job.done += 1
            while job.ahead is not None and job.done in job.ahead:
                job.ahead.discard(job.done)
                job.done += 1
            if job.ahead is not None and not job.ahead:
                job.ahead = None
        else:
            if job.ahead is None:
                job.ahead = set()
            job.ahead.add(number)
        self._overdue.pop((job_id, number), None)
        self.fires += 1
        self._measure(job_id, nominal, appended_at, partition)
        return None

    def _measure(self, job_id, nominal, appended_at, partition):
        before = self.last_append.get(partition, 0)
        self.last_append[partition] = max(before, appended_at)
        late = appended_at - nominal
        if late > self.late_ms:
            self.late_at = max(self.late_at, appended_at)
        if appended_at < self.window_at:
            return
        self.window_fires += 1
        if before >= self.window_at:
            self.gap_ms = max(self.gap_ms, appended_at - before)
        elif before > 0:
            self.gap_ms = max(self.gap_ms, appended_at - self.window_at)
        if late > self.longest_ms:
            self.longest_ms, self.longest_what = late, f"{job_id} of {nominal}, partition {partition}"
        if late > self.late_ms:
            self.late_count += 1
            self.last_late_at = max(self.last_late_at or 0, appended_at)

    def start(self, job_id, run_no, attempt, nominal, started_at, process):
        """A handler was started, as the handler itself wrote it down."""
        if started_at < nominal:
            self.find("early-start", f"{job_id}/{run_no} attempt {attempt} was started {nominal - started_at} ms early")
        seen = self.starts.setdefault((job_id, run_no, attempt), [])
        if seen:
            self.started_again += 1
            if process in seen:
                self.started_again_in_process += 1
        seen.append(process)

    def overdue(self, until):
        """As `missing`, of times that only grow: each occurrence is looked at once, however many jobs there are."""
        while self._coming and self._coming[0][0] <= until:
            nominal, job_id, number = heapq.heappop(self._coming)
            job = self.jobs[job_id]
            if job.deleted_from is not None and nominal > job.deleted_from:
                continue
            if number >= job.done and (job.ahead is None or number not in job.ahead):
                self._overdue[(job_id, number)] = nominal
            if job.every > 0:
                heapq.heappush(self._coming, (nominal + job.every, job_id, number + 1))
        return len(self._overdue), min(self._overdue.values(), default=None)

    def missing(self, until, listed_max=0):
        """How many occurrences with nominal times up to `until` were not seen, the time of the first, and some of them."""
        count, oldest, listed = 0, None, []
        for job_id, job in self.jobs.items():
            due = job.due_by(until)
            if due <= job.done:
                continue
            ahead = job.ahead or ()
            for number in range(job.done, due):
                if number in ahead:
                    continue
                count += 1
                nominal = job.nominal(number)
                oldest = nominal if oldest is None else min(oldest, nominal)
                if len(listed) < listed_max:
                    listed.append(f"{job_id} of {nominal}, partition {job.partition}")
        return count, oldest, listed

    def expected(self, until):
        return sum(job.due_by(until) for job in self.jobs.values())

    def verdict(self, until):
        """Everything up to `until`, since the beginning; lateness of the window alone."""
        count, _, listed = self.missing(until, LISTED_MAX)
        findings = {kind: dict(found) for kind, found in self.findings.items()}
        findings["lost"] = {"count": count, "list": listed}
        return {
            "expected": self.expected(until),
            "fires": self.fires,
            "windowFires": self.window_fires,
            "findings": findings,
            "longestMs": self.longest_ms,
            "longestWhat": self.longest_what,
            "lateCount": self.late_count,
            "lastLateAt": self.last_late_at,
            "gapMs": self.gap_ms,
            "startedAgain": self.started_again,
            "startedAgainInProcess": self.started_again_in_process,
        }

"""
The checker of `npm run chaos`. It shares no code and no client with what it judges: it recomputes the occurrences from the log of
definitions that the drill has written, reads the topics with librdkafka, and answers commands, one JSON object a line, by one each.

    {"cmd": "window", "at": ms}       lateness, gap and late occurrences count from then on
    {"cmd": "status"}                 where it stands
    {"cmd": "verdict", "until": ms}   everything with nominal times up to then
    {"cmd": "end"}

Arguments: one JSON object with brokers, registryUrl, prefix, targetTopics, definitions (a file of JSON lines that may grow) and starts
(a folder of files that handlers write: job id, run, attempt, nominal time, start, process, separated by tabs).
"""

import json
import os
import select
import sys
import time

from judge import AHEAD_LEAD_MS, LEAD_MS, Judge
from log import Follower

STATUS_GRACE_MS = 1_000  # beyond what counts as late


class Lines:
    """Whole lines of a file that grows."""

    def __init__(self, path):
        self._path = path
        self._file = None

    def __iter__(self):
        if self._file is None:
            if not os.path.exists(self._path):
                return
            self._file = open(self._path, encoding="utf-8")
        while True:
            at = self._file.tell()
            line = self._file.readline()
            if not line.endswith("\n"):
                self._file.seek(at)
                return
            yield line[:-1]


def main():
    options = json.loads(sys.argv[1])
    judge = Judge(options.get("lateMs", 1_000))
    definitions = Lines(options["definitions"])
    starts = {}

    def look_at_files():
        for line in definitions:
            judge.define(json.loads(line))
        for name in sorted(os.listdir(options["starts"])):
            lines = starts.setdefault(name, Lines(os.path.join(options["starts"], name)))
            for line in lines:
                job_id, run_no, attempt, nominal, started_at, process = line.split("\t")
                judge.start(job_id, int(run_no), int(attempt), int(nominal), int(started_at), process)

    def answer(command):
        if command["cmd"] == "window":
            judge.begin_window(command["at"])
            return {}
        now = int(time.time() * 1000)
        if command["cmd"] == "status":
            count, oldest = judge.overdue(now - judge.late_ms - STATUS_GRACE_MS)
            return {
                "jobs": len(judge.jobs),
                "missing": count,
                "oldest": oldest,
                "lateAt": judge.late_at,
                "fires": judge.fires,
                "partitions": {str(partition): at for partition, at in judge.last_append.items()},
            }
        if command["cmd"] == "verdict":
            return judge.verdict(command["until"])
        raise SystemExit(0)

    look_at_files()
    follower = Follower(options["brokers"], options["registryUrl"], options["prefix"], options["targetTopics"])
    print(json.dumps({"ready": True}), flush=True)
    pending = b""
    looked_at = 0.0
    while True:
        # Definitions before records: none is read before its job is known.
        if time.monotonic() - looked_at > 1:
            look_at_files()
            looked_at = time.monotonic()
        follower.read(judge, options.get("leadMs", LEAD_MS), options.get("aheadLeadMs", AHEAD_LEAD_MS))
        while select.select([sys.stdin], [], [], 0)[0]:
            chunk = os.read(0, 65536)
            if chunk == b"":
                return  # whoever asks is gone
            pending += chunk
            while b"\n" in pending:
                line, _, pending = pending.partition(b"\n")
                look_at_files()
                print(json.dumps(answer(json.loads(line))), flush=True)


main()

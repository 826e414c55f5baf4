"""
Your own handlers in Python. See README.md in this folder.

    KAFKA_BROKERS=127.0.0.1:19092 SCHEMA_REGISTRY_URL=http://127.0.0.1:18081/apis/ccompat/v7 python worker.py
"""

import logging
import os
import signal

from attempt import NonRetryable, RetryLater
from duelog_worker import Worker


def send_report(run):
    """Reports its progress, ends early if asked to, and returns the result of the run."""
    if "to" not in run.payload:
        raise NonRetryable("nobody to send it to")
    for page in (1, 2, 3):
        run.heartbeat(progress=page / 3, message=f"page {page} of 3")
        if run.ending.wait(0.02):
            return None
    return {"sentTo": run.payload["to"], "attempt": run.attempt}


def flaky_check(run):
    """Fails once, and sets its own delay."""
    if run.attempt == 1:
        raise RetryLater(300, "not yet")


def wait_until_cancelled(run):
    """Shows leases and cancellations: returns when its result is no longer needed."""
    print(f"holding {run.execution_id}", flush=True)
    run.ending.wait()
    print(f"let go of {run.execution_id}", flush=True)


if __name__ == "__main__":
    logging.basicConfig(level=logging.INFO)
    worker = Worker(
        {"send-report": send_report, "flaky-check": flaky_check, "wait-until-cancelled": wait_until_cancelled},
        brokers=os.environ.get("KAFKA_BROKERS", "127.0.0.1:19092"),
        registry_url=os.environ.get("SCHEMA_REGISTRY_URL", "http://127.0.0.1:18081/apis/ccompat/v7"),
        prefix=os.environ.get("DUELOG_TOPIC_PREFIX", "duelog."),
        pool=os.environ.get("DUELOG_POOL", "python"),
    )
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, lambda *_: worker.stop())
    worker.run(on_ready=lambda: print("ready", flush=True), drain_seconds=float(os.environ.get("DRAIN_SECONDS", 25)))
    print("stopped", flush=True)

"""One attempt of one run: the input of a handler, and its outcome."""

import json
import threading
import traceback

RESULT_BYTES_MAX = 65_536


class NonRetryable(Exception):
    """Raised by a handler: the run is dead-lettered at once."""


class RetryLater(Exception):
    """Raised by a handler: the next attempt comes after this delay, instead of the job's backoff."""

    def __init__(self, retry_after_ms, message="to be tried again later"):
        super().__init__(message)
        self.retry_after_ms = retry_after_ms


class Attempt:
    """A handler may run more than once for a run. `execution_id` and `attempt` let it find out what is already done."""

    def __init__(self, entry, started_at):
        execution = entry.execution
        self.entry, self.execution, self.started_at = entry, execution, started_at
        self.job_id, self.run_no, self.attempt = execution["jobId"], execution["runNo"], execution["attempt"]
        # The life distinguishes a job from an earlier job with the same id. Records of early versions have no life.
        life = execution.get("life", "")
        self.execution_id = f"{self.job_id}/{self.run_no}" + (f"@{life}" if life else "")
        self.scheduled_for = execution["scheduledFor"]  # epoch ms, the same for every attempt
        self.headers = execution["headers"]
        self.ending = threading.Event()  # set: the outcome of the handler is ignored from now on
        self.progress, self.message = None, None
        self.beat_at = started_at
        self._outcome_lock = threading.Lock()
        self._ended = False

    @property
    def payload(self):
        """The parsed value if the content type is JSON, otherwise the bytes. None without a payload."""
        payload, kind = self.execution["payload"], (self.execution["contentType"] or "").split(";")[0].strip().lower()
        if payload is None or not (kind == "application/json" or kind.endswith("+json")):
            return payload
        try:
            return json.loads(payload)
        except ValueError as error:
            raise NonRetryable("the payload is not JSON though its content type says so") from error

    def heartbeat(self, progress=None, message=None):
        """The API shows it while the run is active. The lease is renewed without it too."""
        self.progress, self.message = progress, message and message[:1_000]

    def end(self):
        """True for the first caller only: an attempt has one outcome, and the first one counts."""
        with self._outcome_lock:
            first, self._ended = not self._ended, True
            return first

    @property
    def ended(self):
        return self._ended


def outcome_of(handler, attempt):
    """Runs the handler and returns the fields of its last report."""
    try:
        returned = handler(attempt)
        if returned is None:
            return {"type": "SUCCEEDED"}
        return succeeded(returned)
    except Exception as error:
        after = getattr(error, "retry_after_ms", None)
        stack = traceback.format_exc()[-4_000:]
        return failed(type(error).__name__, str(error), not isinstance(error, NonRetryable), after, stack)


def succeeded(returned):
    """The work is done, so a result that cannot be kept fails nothing: it is left out, and the run says why."""
    try:
        result = json.dumps(returned).encode()
    except (TypeError, ValueError, RecursionError) as error:
        return {"type": "SUCCEEDED", "message": f"The result was left out: it is not JSON: {error}"[:1_000]}
    if len(result) > RESULT_BYTES_MAX:
        why = f"it has {len(result)} bytes of JSON, more than {RESULT_BYTES_MAX}."
        return {"type": "SUCCEEDED", "message": f"The result was left out: {why}"}
    return {"type": "SUCCEEDED", "result": result}


def failed(kind, message, retryable=True, retry_after_ms=None, stack=None):
    error = {"type": kind, "message": message[:1_000], "retryable": retryable}
    return {"type": "FAILED", "error": {**error, "retryAfterMs": retry_after_ms, "stack": stack}}

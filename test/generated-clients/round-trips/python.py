"""What generated-clients.test.ts has the Python client do."""
import json
import sys
import time

import openapi_client as duelog

base, token, id = sys.argv[1:4]
client = duelog.ApiClient(duelog.Configuration(host=base, access_token=token))
jobs, runs, system = duelog.JobsApi(client), duelog.RunsApi(client), duelog.SystemApi(client)


def problem_of(call):
    try:
        call()
        return "no problem"
    except duelog.ApiException as error:
        problem = error.data
        assert isinstance(problem, duelog.Problem), problem
        return f"{problem.status} {problem.code} {str(problem.retriable).lower()}"


def text(value):
    return json.dumps(value, separators=(",", ":"))


at = 4_102_444_800_000
definition = duelog.JobDefinition(
    schedule=duelog.Schedule(at=duelog.Instant(at)),
    start_at=duelog.Instant("2030-01-31T08:00:00+01:00"),
    target=duelog.Target(handler="echo"),
    headers={"plain": duelog.TextOrBytes("text"), "bytes": duelog.TextOrBytes(duelog.Bytes(base64="AP8="))},
    payload={"n": 1},
    tags=[id.split("/")[0]],
    priority=duelog.Priority(7),
    retry=duelog.Retry(backoff=duelog.Backoff(fixed=duelog.FixedBackoff(delay_ms=1_500))),
)
made = jobs.put_job(id, definition, wait="applied")
job = jobs.get_job(id)
listed = jobs.list_jobs(tag=id.split("/")[0], limit=10)
word = definition.model_copy(update={"priority": duelog.Priority("LOW")})
jobs.put_job(f"{id}/word", word, wait="applied")
second = jobs.get_job(f"{id}/word")
triggered = jobs.trigger_job(id, idempotency_key="once", trigger_request=duelog.TriggerRequest(payload={"n": 2}))
run = runs.get_run(id, 1)
while run.finished_at is None:
    time.sleep(0.05)
    run = runs.get_run(id, 1)
every_day = duelog.Schedule(every_ms=86_400_000, anchor=duelog.Instant(at))
request = duelog.PreviewRequest(schedule=every_day, var_from=duelog.Instant(at), count=1)
preview = duelog.SchedulesApi(client).preview_schedule(request)
plan = jobs.plan_jobs(duelog.PlanRequest(jobs=[definition.model_copy(update={"id": id})]))
line = {"id": f"{id}/line", **definition.to_dict()}
lines = jobs.write_jobs((text(line) + "\n").encode())
print(
    text(
        {
            "applied": made.applied,
            "status": job.status,
            "at": job.definition.schedule.at.actual_instance,
            "startAt": job.definition.start_at.actual_instance,
            "headers": {name: value.to_dict() for name, value in job.definition.headers.items()},
            "payload": job.definition.payload,
            "backoffMs": job.definition.retry.backoff.fixed.delay_ms,
            "priorities": [one.definition.priority.actual_instance for one in (job, second)],
            "lastRun": job.last_run,
            "listed": ",".join(one.id for one in listed.jobs),
            "runId": triggered.run_id,
            "run": run.status,
            "result": run.result,
            "preview": preview.fires[0].at_ms,
            "plan": plan.jobs[0].action,
            "line": json.loads(lines)["ok"],
            "partitions": ",".join(partition.phase for partition in system.list_partitions().partitions),
            "workers": len(system.list_workers().workers),
            "explained": jobs.explain_job(id).status,
            "missing": problem_of(lambda: jobs.get_job("nowhere")),
            "refused": problem_of(
                lambda: jobs.put_job(
                    id, duelog.JobDefinition(schedule=duelog.Schedule(), target=duelog.Target(handler="echo"))
                )
            ),
            "stranger": problem_of(
                lambda: duelog.JobsApi(duelog.ApiClient(duelog.Configuration(host=base))).get_job(id)
            ),
        }
    )
)

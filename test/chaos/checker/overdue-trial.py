"""Tries `Judge.overdue`, which looks at each occurrence once, against `Judge.missing`, which looks at all: random histories, some of it lost."""

import random

from judge import Judge

NEVER = 10**9
HISTORIES = 200

for seed in range(HISTORIES):
    chance = random.Random(seed)
    judge = Judge()
    coming = []
    for index in range(20):
        job_id, first, every = f"job-{index}", chance.randrange(1_000), chance.choice([0, 100, 333])
        judge.define({"id": job_id, "first": first, "every": every, "topic": False})
        count = 1 if every == 0 else (5_000 - first) // every
        for number in range(count):
            nominal = first + number * every
            coming.append((nominal + chance.choice([0, 0, 50, 2_000, NEVER]), job_id, number, nominal))
    coming.sort()
    for now in range(0, 5_000, 50):
        while coming and coming[0][0] <= now:
            appended_at, job_id, number, nominal = coming.pop(0)
            judge.record(job_id, number + 1, 1, nominal, appended_at, 0, 0, "here")
        assert judge.overdue(now - 100) == judge.missing(now - 100)[:2], f"history {seed} at {now}"
print(f"{HISTORIES} histories agree")

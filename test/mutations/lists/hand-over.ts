/** Mutations of planned stops, and of what a new owner or a standby does before it fires. */
import { area } from '../mutation.ts'

const scheduler = (file: string): string => `src/scheduler/${file}.ts`

export const handOverMutations = [
  ...area(
    'planned stops',
    ['scheduler/planned-stops'],
    [
      [
        'leaves-at-once',
        scheduler('hand-over'),
        '    else if (hasSuccessors) await after(successorsReadMs)\n',
        '',
        'a stopping owner leaves, and with the rebalance stops the reads of its successors',
      ],
      [
        'stop-without-limit',
        scheduler('hand-over'),
        'await Promise.race([reader.rejoin().then(handedOver, () => undefined), late])',
        'await reader.rejoin().then(handedOver, () => undefined)',
        'a stop waits for ever for a partition that nobody takes',
      ],
      [
        'stops-with-the-first',
        scheduler('hand-over'),
        'if (this.#leaving().length === 0) this.#handedOver?.()',
        'if (this.#leaving().length <= 1) this.#handedOver?.()',
        'a stopping owner leaves while a partition has no successor',
      ],
      [
        'waits-without-successor',
        scheduler('hand-over'),
        'hasSuccessors = this.#leaving().length > 0',
        'hasSuccessors = true',
        'a stop of a process without partitions takes two seconds',
      ],
      [
        'stop-timer-left',
        scheduler('hand-over'),
        '    cancel()\n    const left',
        '    const left',
        'the time limit of a stop outlives it',
        'scheduler/hand-over',
      ],
    ],
  ),
  ...area(
    'claims',
    ['scheduler/takeovers', 'scheduler/clock', 'scheduler/clock-set-back', 'backup/fence'],
    [
      [
        'claim-over-a-marker',
        scheduler('partition/takeover'),
        "  took.lap('readMs')\n  await refuseMarked(context)\n",
        "  took.lap('readMs')\n",
        'an owner that reads the marker of a moved system with its claim fires',
      ],
      [
        'claims-of-the-same-time',
        scheduler('partition/takeover'),
        'Math.max(clock.nowMs(), before + 1)',
        'clock.nowMs()',
        'two claims have the same time after a clock was set back',
      ],
      [
        'events-before-definitions',
        scheduler('partition/takeover'),
        '  if (mayBeLost) {\n',
        '  if (!mayBeLost) {\n',
        'an owner with a position judges the loss of its state by reports',
        'scheduler/partition/invalid-positions',
      ],
      [
        'expired-awaited',
        scheduler('partition/takeover'),
        'end = Math.min(end, await endToRead(context, source))',
        'await endToRead(context, source)',
        'a drain waits for ever for records that have expired',
        'scheduler/partition/invalid-positions',
      ],
      [
        'recreated-kept',
        scheduler('partition/takeover'),
        '  if (await definitionsWereRecreated(context, { claimOffset, claimedAt }, ends.jobs)) await startOver(context)\n',
        '  await definitionsWereRecreated(context, { claimOffset, claimedAt }, ends.jobs)\n',
        'a store of a former log of definitions goes on',
        'scheduler/partition/invalid-positions',
      ],
    ],
  ),
  ...area(
    'restores and standbys',
    ['scheduler/restores', 'scheduler/takeovers', 'scheduler/other-logs'],
    [
      [
        'standby-proves-once',
        scheduler('partition/restore'),
        "if (read.isProven && life.phase !== 'following') return",
        'if (read.isProven) return',
        'a standby does not notice that another owner has continued in a log that lost its end',
      ],
      [
        'held-back-is-cut',
        scheduler('partition/cut-changelog'),
        'if (next >= stateOffset || (await isHeldBack(assignment, stateOffset))) return',
        'if (next >= stateOffset) return',
        'an owner whose log is held back by an open transaction refuses',
      ],
      [
        'cut-unnoticed',
        scheduler('partition/cut-changelog'),
        "if (changelog === 'cut' || check > checksMax)",
        'if (check > checksMax)',
        'an owner goes on in a log that has grown past what it had lost',
      ],
      [
        'standby-queue-lost',
        scheduler('partition/standby'),
        'const ops = queueEntryOps(after.id, before.state, after.state, () => undefined)',
        'const ops: StoreOp[] = []',
        'a standby does not know who waits for a slot',
        'scheduler/limits-at-takeovers',
      ],
      [
        'standby-search-stale',
        scheduler('partition/standby'),
        '    gone.push(...indexKeysOf(before))\n',
        '',
        'a search finds jobs by a status that they had at another owner',
        'scheduler/current-reads',
      ],
    ],
  ),
  ...area(
    'clocks that are set back',
    ['streams/runs/early-timers'],
    [
      [
        'early-deadline-lost',
        'streams/runs/attempt.ts',
        '    if (timer.dueAt === until) draft.deferUntil = until\n    return\n  }\n  // A run that waits',
        '    return\n  }\n  // A run that waits',
        'a run whose start deadline is judged before its time never expires',
      ],
      [
        'early-timeout-lost',
        'streams/runs/attempt.ts',
        '    if (timer.dueAt === until) draft.deferUntil = until\n    return\n  }\n  if (awaitsEvents',
        '    return\n  }\n  if (awaitsEvents',
        'an attempt whose timeout is judged before its time never ends',
      ],
      [
        'early-recheck-lost',
        'streams/jobs/recheck.ts',
        '    draft.deferUntil = timer.dueAt\n',
        '',
        'a job whose check for its topic is judged before its time stays INVALID',
      ],
      [
        'early-lease-lost',
        'streams/runs/attempt.ts',
        '    draft.extraTimers.push({ dueAt: until, kind: timerKind.lease, jobId: draft.job.id, runNo: run.runNo })\n',
        '',
        'a run whose lease is judged before its time is never missed',
      ],
      [
        'early-pool-check-lost',
        'streams/runs/paused-pool.ts',
        'if (dueAt > now) draft.deferUntil = dueAt\n  else if (pauseOf',
        'if (dueAt > now) return\n  else if (pauseOf',
        'a run that waits for its pool is not checked any more',
      ],
    ],
  ),
]

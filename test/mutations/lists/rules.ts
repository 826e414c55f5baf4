/**
 * Mutations of the rules in streams/ for runs, commands and limits. Stryker makes many more mutations of these rules; this list
 * has those that resemble a real mistake.
 */
import { area } from '../mutation.ts'

const runs = (file: string): string => `streams/runs/${file}.ts`

export const rulesMutations = [
  ...area(
    'runs',
    ['streams/runs/firing', 'streams/runs/retries', 'streams/runs/leases', 'streams/runs/overlap', 'streams/runs/misfire'],
    [
      [
        'B-other-life',
        runs('attempt'),
        ' && run.specOffset === event.specOffset',
        '',
        'a report of another life is applied',
        'seeds 1-100',
      ],
      [
        'G-released-counts',
        runs('attempt'),
        'const attemptsMade = run.attempt - run.releasedAttempts',
        'const attemptsMade = run.attempt',
        'a released attempt counts against maxAttempts',
        'seeds 1-100',
      ],
      ['pause-ignored', runs('fire'), "state.status !== 'ACTIVE' || ", "state.status === 'COMPLETED' || ", 'a paused job fires'],
      [
        'run-twice',
        runs('fire'),
        '  if ((state.nextDueAt ?? state.nextFireAt) !== timer.dueAt) return\n',
        '',
        'a timer fires without a look at the state',
      ],
      [
        'overlap-ignored',
        runs('fire'),
        "return state.active.length > 0 ? 'overlap' : undefined",
        'return undefined',
        'the overlap policy has no effect',
      ],
      [
        'one-run-more',
        runs('fire'),
        'state.active.length >= spec.maxConcurrentRuns ?',
        'state.active.length > spec.maxConcurrentRuns ?',
        'a job has one run more than maxConcurrentRuns',
      ],
      [
        'retry-early',
        runs('attempt'),
        'if (due.dueAt - context.leadMs <= context.now) beginAttempt',
        'if (true) beginAttempt',
        'a retry is dispatched before its backoff is over',
      ],
      [
        'one-attempt-more',
        runs('attempt'),
        'if (attemptsMade >= retry.maxAttempts)',
        'if (attemptsMade > retry.maxAttempts)',
        'a run has one attempt more than maxAttempts',
      ],
      [
        'deadline-early',
        runs('attempt'),
        '  const until = expiresAt(run)\n',
        '  const until = run.startDeadlineAt\n',
        'a run expires before the grace after its start deadline',
      ],
      [
        'backstop-lost',
        'streams/state/timers.ts',
        '(parked ? dueAt : dueAt + retryBackstopMs)',
        '(parked ? dueAt : Number.MAX_SAFE_INTEGER)',
        'a run whose retry is lost waits forever',
        'scheduler/lost-records',
      ],
      [
        'threshold-missed',
        runs('fire'),
        '<= spec.misfireThresholdMs) return due',
        '< spec.misfireThresholdMs) return due',
        'an occurrence that is late by exactly the threshold counts as a misfire',
      ],
    ],
  ),
  ...area(
    'commands',
    ['streams/jobs/commands', 'streams/runs/cancel'],
    [
      [
        'C-commands-forgotten',
        'streams/state/recent-commands.ts',
        'recentCommands.includes(markOf(commandId)) || ',
        '',
        'a command that is sent again is applied again',
        'seeds 1-100',
      ],
      [
        'cancel-schedules-on',
        'streams/jobs/command.ts',
        "  patchState(draft, { nextFireAt: null, queuedFor: null, backfill: null, waiting: false, reason: 'cancelled' })",
        "  patchState(draft, { reason: 'cancelled' })",
        'a canceled job keeps its next occurrence',
      ],
    ],
  ),
  ...area(
    'limits',
    ['streams/state/starts', 'streams/runs/rate', 'streams/runs/concurrency', 'model/limits'],
    [
      [
        'window-one-short',
        'streams/state/starts.ts',
        'const back = times.at(times.length - limit) ??',
        'const back = times.at(times.length - limit - 1) ??',
        'a rate window allows one start too many',
      ],
      [
        'future-starts-believed',
        'streams/state/starts.ts',
        ': givenAt - now > givenAheadMsMax',
        ': givenAt - now > startDeadlineMsMax',
        'starts given by a clock ahead of time block the key',
      ],
      [
        'queue-jumped',
        runs('gate'),
        'return waiting === 0 && held < limit',
        'return held < limit',
        'the newest run of an admission queue gets the slot first',
      ],
      [
        'slot-held-in-backoff',
        'streams/state/slots.ts',
        "return status === 'DISPATCHED' || status === 'RUNNING' ||",
        "return status === 'DISPATCHED' || status === 'RUNNING' || status === 'RETRY_WAIT' ||",
        'a run keeps its slot during a backoff',
      ],
      [
        'expired-takes-a-start',
        runs('gate'),
        'if (at < run.startDeadlineAt) {',
        'if (at <= run.startDeadlineAt) {',
        'a run at its start deadline uses a start',
      ],
    ],
  ),
]

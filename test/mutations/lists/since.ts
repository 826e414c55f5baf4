/** Mutations of what was last added to owners and the auditor: positions that pass what is shown to nobody, logs that are written again, the net below the timers, accounts in memory. */
import { area } from '../mutation.ts'

const scheduler = (file: string): string => `src/scheduler/${file}.ts`

export const sinceMutations = [
  ...area(
    'passed positions',
    ['scheduler/passed-positions'],
    [
      [
        'passed-while-closing',
        'src/scheduler/partition/partition-context.ts',
        '() => !this.closing && !this.#fault, applied',
        '() => true, applied',
        'what a closing owner does not take is done with its last turn',
      ],
      [
        'marks-unpassed',
        scheduler('input/log-positions'),
        "return { ...next, commands: this.#doneTo('commands', next.commands), events: this.#doneTo('events', next.events) }",
        'return { ...next }',
        'the position stays before what is shown to nobody',
      ],
      [
        'unfolded-passed',
        scheduler('input/log-positions'),
        'const isAll = receives && next >= this.#reader.next(source)',
        'const isAll = receives',
        'the position passes what was read and is not folded',
        'seeds 1-60',
      ],
      [
        'reports-unsaid',
        scheduler('partition/idle-position'),
        "return positions.isUnlogged('events') || positions.isUnlogged('jobs') ? idleCheckMs",
        "return positions.isUnlogged('jobs') ? idleCheckMs",
        'an idle owner does not say how far it has read reports',
      ],
      [
        'commands-unsaid',
        scheduler('partition/idle-position'),
        "    if (positions.isUnlogged('commands')) return idleMs\n",
        '',
        'an idle owner does not say how far it has read commands',
      ],
      [
        'definitions-unsaid',
        scheduler('partition/idle-position'),
        "    if (isFollowed && positions.isUnlogged('jobs')) return idleMs\n",
        '',
        'an idle owner does not say to standbys how far it has read definitions',
        'scheduler/current-reads',
        'scheduler/takeovers',
      ],
    ],
  ),
  ...area(
    'logs written again',
    ['scheduler/other-logs', 'scheduler/old-copies'],
    [
      [
        'logged-again-unnoticed',
        scheduler('partition/restore'),
        "  if (await isLoggedAgain(context, records)) throw await leaveLog(context, 'ours', read.stateOffset)\n",
        '',
        'who has a shorter store takes a log for whole whose writer died over it',
      ],
      [
        'old-copy-trusted',
        scheduler('partition/restore'),
        '      if (other !== undefined) await forgetDefinitions(assignment, store)\n',
        '',
        'the only copy is older than tombstones, and its definitions count',
      ],
      [
        'forgotten-unread',
        scheduler('partition/restore'),
        "otherLog: 'ours', jobsOffset: 0, savedAtMs: clock.nowMs()",
        "otherLog: 'ours', savedAtMs: clock.nowMs()",
        'definitions that are forgotten are not read anew',
      ],
    ],
  ),
  ...area(
    'sweeper',
    ['scheduler/timers/lost-timer-sweeper', 'scheduler/clock-set-back'],
    [
      [
        'deletions-rearmed',
        scheduler('timers/lost-timer-sweeper'),
        '[timerKind.lease, timerKind.delete]',
        '[timerKind.lease]',
        'a deletion whose tombstone is on its way is set again',
      ],
      [
        'stray-unnoticed',
        scheduler('timers/lost-timer-sweeper'),
        '      stray.push(...strayTimersOf(job, now))\n',
        '',
        'times of a clock that was ahead stay',
      ],
      [
        'sweep-unbounded',
        scheduler('timers/lost-timer-sweeper'),
        'if (bytes < bytesPerSweep && !budget.isOver) continue',
        'if (!budget.isOver) continue',
        'a sweep reads 100 jobs, however heavy',
      ],
      [
        'sweep-searches',
        scheduler('timers/lost-timer-sweeper'),
        'if (bytes < bytesPerSweep && !budget.isOver) continue',
        'if (bytes < bytesPerSweep) continue',
        'a sweep searches for 100 jobs, however expensive their rules',
      ],
      [
        'swept-once',
        scheduler('timers/lost-timer-sweeper'),
        'this.#cursor = ids.length < jobsPerSweep ? undefined : ids.at(-1)',
        'this.#cursor = ids.at(-1) ?? this.#cursor',
        'behind the last job it does not begin anew',
      ],
      [
        'sweep-held-up',
        scheduler('timers/lost-timer-sweeper'),
        'return this.#shared.clock.steadyMs() >= this.#nextSweepSteadyMs',
        'return this.#shared.clock.nowMs() >= this.#nextSweepSteadyMs',
        'a clock that is set back holds the net up',
      ],
    ],
  ),
  ...area(
    'heavy mail',
    ['scheduler/timers/heavy-timer-slots', 'scheduler/heavy-bursts', 'scheduler/heavy-shares'],
    [
      [
        'mail-behind-timers',
        scheduler('commit/batch-limits'),
        'inputRecordsFirst ? items.splice(0, 1) : []',
        'inputRecordsFirst ? items.splice(0, 0) : []',
        'a mail that fills a turn waits for as long as timers are due',
      ],
      [
        'payloads-of-runs-weigh-nothing',
        scheduler('commit/batch-limits'),
        '(job === undefined ? 0 : weightOf(job)) - had',
        '(job === undefined || had > 0 ? 0 : weightOf(job))',
        'a turn has the payloads of a hundred runs of one job in memory',
      ],
    ],
  ),
  ...area(
    'accounts of the auditor',
    ['auditor/accounts/account-cache', 'auditor/ledger', 'auditor/audited-partition'],
    [
      [
        'accounts-unbounded',
        'src/auditor/ledger.ts',
        '    this.#cached.shrink(this.#options.cachedMax?.() ?? cachedRunsMax)\n',
        '',
        'the auditor keeps every account in memory',
      ],
      [
        'open-runs-weigh-nothing',
        'src/auditor/accounts/account-cache.ts',
        'Math.max(1, runsOf(account).length)',
        '1',
        'an account with two thousand runs counts as one',
      ],
      [
        'weighed-once',
        'src/auditor/ledger.ts',
        '      else this.#cached.weigh(id)\n',
        '',
        'an account counts as it was when it came',
      ],
      [
        'memory-of-each',
        'src/auditor/accounts/account-cache.ts',
        'cachedRunsMax / Math.max(1, ledgers.size)',
        'cachedRunsMax',
        'each partition keeps as much as all of them may',
      ],
      [
        'many-unsaved',
        'src/auditor/ledger.ts',
        'if (this.#dirty.size > unsavedMax) await save()',
        'if (this.#dirty.size < 0) await save()',
        'any number of changed accounts waits to be saved',
      ],
    ],
  ),
]

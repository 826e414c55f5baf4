/**
 * Mutations of later additions to owners and to the auditor: positions after records that readers do not get, logs that are
 * written again, the lost-timer sweeper, accounts in memory.
 */
import { area } from '../mutation.ts'

const scheduler = (file: string): string => `src/scheduler/${file}.ts`

export const positionMutations = [
  ...area(
    'committed positions',
    ['scheduler/passed-positions'],
    [
      [
        'passed-while-closing',
        'src/scheduler/partition/partition-context.ts',
        'receives: () => this.life.receives,',
        'receives: () => true,',
        'the last commit of a closing owner covers input that it did not apply',
      ],
      [
        'marks-unpassed',
        scheduler('input/log-positions'),
        "return { ...next, commands: this.#doneTo('commands', next.commands), events: this.#doneTo('events', next.events) }",
        'return { ...next }',
        'the position stays before records that readers do not get',
      ],
      [
        'unapplied-passed',
        scheduler('input/log-positions'),
        'const isAll = receives && next >= this.#reader.next(source)',
        'const isAll = receives',
        'the position passes records that were read and not applied',
        'seeds 1-60',
      ],
      [
        'report-position-unwritten',
        scheduler('partition/run-loop'),
        "return positions.isUnlogged('events') || positions.isUnlogged('jobs') ? idleCheckMs",
        "return positions.isUnlogged('jobs') ? idleCheckMs",
        'an idle owner does not commit how far it has read reports',
      ],
      [
        'command-position-unwritten',
        scheduler('partition/run-loop'),
        "    if (positions.isUnlogged('commands')) return idleMs\n",
        '',
        'an idle owner does not commit how far it has read commands',
      ],
      [
        'definition-position-unwritten',
        scheduler('partition/run-loop'),
        "    if (isFollowed && positions.isUnlogged('jobs')) return idleMs\n",
        '',
        'an idle owner does not tell standbys how far it has read definitions',
        'scheduler/current-reads',
        'scheduler/takeovers',
      ],
    ],
  ),
  ...area(
    'lost-timer sweeper',
    ['scheduler/timers/lost-timer-sweeper', 'scheduler/clock-set-back'],
    [
      [
        'deletions-rearmed',
        scheduler('timers/lost-timer-sweeper'),
        '[timerKind.lease, timerKind.delete]',
        '[timerKind.lease]',
        'the sweeper sets the timer of a deletion again while its tombstone is being written',
      ],
      [
        'misdated-unnoticed',
        scheduler('timers/lost-timer-sweeper'),
        '      misdated.push(...misdatedTimersOf(job, now))\n',
        '',
        'timers set by a clock ahead of time stay',
      ],
      [
        'sweep-unbounded',
        scheduler('timers/lost-timer-sweeper'),
        'if (bytes < bytesPerSweep && !budget.isOver) continue',
        'if (!budget.isOver) continue',
        'a sweep reads 100 jobs of any size',
      ],
      [
        'sweep-searches',
        scheduler('timers/lost-timer-sweeper'),
        'if (bytes < bytesPerSweep && !budget.isOver) continue',
        'if (bytes < bytesPerSweep) continue',
        'a sweep searches the next time of 100 jobs, at any cost of their rules',
      ],
      [
        'swept-once',
        scheduler('timers/lost-timer-sweeper'),
        'this.#cursor = ids.length < jobsPerSweep ? undefined : ids.at(-1)',
        'this.#cursor = ids.at(-1) ?? this.#cursor',
        'the sweeper does not start again after the last job',
      ],
      [
        'sweep-held-up',
        scheduler('timers/lost-timer-sweeper'),
        'return this.#shared.clock.steadyMs() >= this.#nextSweepSteadyMs',
        'return this.#shared.clock.nowMs() >= this.#nextSweepSteadyMs',
        'a clock that is set back stops the sweeper',
      ],
    ],
  ),
  ...area(
    'large input records',
    ['scheduler/timers/heavy-timer-slots', 'scheduler/heavy-bursts', 'scheduler/heavy-shares', 'scheduler/commit/batch-limits'],
    [
      [
        'input-behind-timers',
        scheduler('commit/batch-limits'),
        'inputRecordsFirst ? items.splice(0, 1) : []',
        'inputRecordsFirst ? items.splice(0, 0) : []',
        'an input record that fills a batch waits as long as timers are due',
      ],
      [
        'payloads-of-runs-weigh-nothing',
        scheduler('commit/batch-limits'),
        '(job === undefined ? 0 : weightOf(job)) - had',
        '(job === undefined || had > 0 ? 0 : weightOf(job))',
        'a commit cycle has the payloads of 100 runs of one job in memory',
      ],
    ],
  ),
  ...area(
    'accounts of the auditor',
    ['auditor/accounts/account-cache', 'auditor/ledger', 'auditor/audited-partition'],
    [
      [
        'accounts-unbounded',
        'src/tools/auditor/ledger.ts',
        '    this.#cached.shrink(this.#options.cachedMax?.() ?? cachedRunsMax)\n',
        '',
        'the auditor keeps every account in memory',
      ],
      [
        'open-runs-weigh-nothing',
        'src/tools/auditor/accounts/account.ts',
        'Math.max(1, runsOf(account).length)',
        '1',
        'an account with 2,000 runs weighs as much as an empty one',
      ],
      [
        'weighed-once',
        'src/tools/auditor/ledger.ts',
        '      else this.#cached.weigh(id)\n',
        '',
        'the weight of an account is not updated after its creation',
      ],
      [
        'memory-of-each',
        'src/tools/auditor/accounts/account.ts',
        'cachedRunsMax / Math.max(1, ledgers.size)',
        'cachedRunsMax',
        'each partition may use the memory that all partitions share',
      ],
      [
        'many-unsaved',
        'src/tools/auditor/ledger.ts',
        'if (this.#dirty.size > unsavedMax) await save()',
        'if (this.#dirty.size < 0) await save()',
        'any number of changed accounts is unsaved',
      ],
    ],
  ),
]

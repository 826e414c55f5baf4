/** Mutations of what is kept: stores, definitions, tombstones, and how many bytes. */
import { area } from '../mutation.ts'

const scheduler = (file: string): string => `src/scheduler/${file}.ts`

export const keepingMutations = [
  ...area(
    'byte budgets',
    ['scheduler/heavy-turns', 'scheduler/mailbox', 'scheduler/poison', 'streams/jobs/sizes'],
    [
      [
        'budget-in-records',
        scheduler('batch'),
        'export const turnBytesMax = 4 * 1024 * 1024',
        'export const turnBytesMax = 64 * 1024 * 1024',
        'a turn writes 64 MB',
      ],
      [
        'dead-letter-counted-once',
        scheduler('batch'),
        'return { jobId, copies: gives ? 2 : 1 }',
        'return { jobId, copies: 1 }',
        'of an attempt that is given up one copy is counted',
      ],
      [
        'failure-weighs-nothing',
        scheduler('batch'),
        "copies: type === 'FAILED' ? 2 :",
        "copies: type === 'FAILED' ? 0 :",
        'a small report of a large job counts as small',
      ],
      [
        'loaded-unbounded',
        scheduler('batch'),
        'const loadedBytesMax = 4 * turnBytesMax',
        'const loadedBytesMax = 64 * turnBytesMax',
        'jobs of 256 MB are in memory at once',
      ],
      [
        'mailbox-in-records',
        scheduler('mailbox'),
        'return this.depth > mailboxRecordsMax || this.#bytes > mailboxBytesMax',
        'return this.depth > mailboxRecordsMax',
        'reading goes on however many bytes wait',
      ],
      [
        'state-unbounded',
        'streams/jobs/state-size.ts',
        'export const stateBytesMax = 524_288',
        'export const stateBytesMax = 5_242_880',
        'a state may be larger than a record of the log',
      ],
      [
        'moved-unbounded',
        scheduler('intake'),
        'if (sizeOf(record) > movedBytesMax) {',
        'if (sizeOf(record) > 2 * movedBytesMax) {',
        'a record is moved that fits no batch',
      ],
    ],
  ),
  ...area(
    'local store',
    ['scheduler/freshness', 'scheduler/takeovers', 'scheduler/clock'],
    [
      [
        'timers-lost',
        scheduler('restore'),
        'for (const timer of stateTimers(jobId, state)) ops.push({ key: timerKey(timer), value: none })',
        '',
        'a restore writes no timers',
        'seeds 1-40',
      ],
      [
        'waiters-lost',
        scheduler('restore'),
        'for (const waiter of waitersOf(jobId, state)) ops.push({ key: waiterKey(waiter), value: none })',
        '',
        'a restore writes no queue',
        'seeds 1-80',
      ],
      [
        'foreign-store',
        scheduler('local-record'),
        'if (local.clusterId !== log.clusterId)',
        "if (local.clusterId === '')",
        'the store of another cluster is continued',
        'seeds 1-60',
      ],
      [
        'old-store',
        scheduler('local-record'),
        'if (mayLackTombstones(local.savedAtMs, nowMs, retentionMs))',
        'if (nowMs < 0)',
        'a store that may lack tombstones is continued',
      ],
      [
        'store-of-the-future',
        scheduler('freshness'),
        'savedAtMs - nowMs > aheadMsMax',
        'savedAtMs - nowMs > 1_000 * aheadMsMax',
        'a store that was saved by a clock that was ahead passes for fresh',
      ],
      [
        'sleeper-goes-on',
        scheduler('freshness'),
        'if (isCurrent && !this.#hasSlept)',
        'if (isCurrent)',
        'a store calls itself up to date after a sleep in which tombstones came and went',
      ],
    ],
  ),
  ...area(
    'kept definitions',
    ['scheduler/outlived-tombstone', 'streams/jobs/deletions', 'streams/jobs/definitions'],
    [
      [
        'kept-lost',
        scheduler('claiming'),
        '  await putKeptDefinitions(own.shared.codecs, store)\n',
        '',
        'a takeover forgets kept definitions',
      ],
      [
        'kept-over-newer',
        scheduler('kept-definitions'),
        'if (kept === null || (known && storedDefinition(known).offset >= storedDefinition(kept).offset)) continue',
        'if (kept === null) continue',
        'a kept definition is put over a newer one',
        'seeds 1-60',
      ],
      [
        'dropped-not-kept',
        'streams/jobs/accept.ts',
        '  if (draft.job.state?.definitionKept !== true) draft.keptDefinition = inForce\n',
        '',
        'what a stale version must not replace is not kept',
      ],
      [
        'kept-for-ever',
        'streams/jobs/accept.ts',
        '    if (state.definitionKept) draft.keptDefinition = null\n',
        '',
        'the changelog keeps the definition of a deleted job',
      ],
    ],
  ),
  ...area(
    'tombstones',
    ['streams/jobs/deletions', 'scheduler/outlived-tombstone', 'scheduler/deleted-runs'],
    [
      [
        'H-old-tombstone',
        'streams/jobs/accept.ts',
        '  if (inForce > deletion.offset) return\n',
        '',
        'a tombstone before the definition deletes it',
      ],
      [
        'revived-and-deleted',
        'streams/jobs/accept.ts',
        ' || (state?.active.length ?? 0) > 0\n',
        '\n',
        'an owner deletes a job that runs',
      ],
      [
        'deletion-of-another-day',
        'streams/jobs/accept.ts',
        'deleteAt === null || (observedDeleteAt !== undefined && observedDeleteAt !== deleteAt)',
        'deleteAt === null',
        'the tombstone of an earlier end counts for a later one',
      ],
      [
        'workers-not-told',
        'streams/jobs/accept.ts',
        "      tellOfCancel(draft, run, 'deleted')\n",
        '',
        'runs of a deleted job are cancelled at no worker',
      ],
      [
        'ring-kept',
        'streams/jobs/accept.ts',
        'draft.dropRing = state.runNo > 1',
        'draft.dropRing = state.runNo > 2',
        'a job of the same id shows a run of the one before',
      ],
    ],
  ),
]

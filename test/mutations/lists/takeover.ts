/** Mutations of a takeover, of where logs are read, and of standbys. */
import { area } from '../mutation.ts'

const scheduler = (file: string): string => `src/scheduler/${file}.ts`

export const takeoverMutations = [
  ...area(
    'takeover',
    ['scheduler/takeovers', 'scheduler/positions'],
    [
      [
        'E-store-beside',
        scheduler('claiming'),
        'if (isBesideTheLog({',
        'if (false && isBesideTheLog({',
        'the claim keeps a store that went on beside the log',
      ],
      [
        'F-commands-undrained',
        scheduler('claiming'),
        "  await readToEnd(own, 'commands', ends.commands, foldMail)\n",
        '',
        'a takeover does not drain commands',
      ],
      [
        'jobs-undrained',
        scheduler('claiming'),
        "  await readToEnd(own, 'jobs', ends.jobs, foldMail)\n",
        '',
        'a takeover does not drain definitions',
      ],
      [
        'claim-not-read-back',
        scheduler('claiming'),
        '  await own.until(() => own.applied.state > claimOffset)\n',
        '',
        'what the owner before committed last is not read',
        'seeds 1-40',
      ],
      [
        'positions-swapped',
        scheduler('positions'),
        "'events', eventsOffset, ",
        "'events', commandsOffset, ",
        'reports are read on from where commands stand',
      ],
      [
        'ahead-forgotten',
        scheduler('positions'),
        'own.logged = { ...offsets, aheadUntil, ',
        'own.logged = { ...offsets, aheadUntil: 0, ',
        'a new owner does not know what the ahead lanes hold',
      ],
      [
        'fence-without-heartbeat',
        scheduler('claiming'),
        'Promise.race([own.orClosed(own.feed.nextHeartbeat()), own.interrupted])',
        'Promise.resolve()',
        'a member that the group has given up fences its successor',
        'seeds 1-40',
      ],
    ],
  ),
  ...area(
    'reading',
    ['scheduler/positions', 'scheduler/takeovers'],
    [
      [
        'shrunk-unseen',
        scheduler('receiving'),
        'if (batch.highWatermark < feed.next(source) && feed.isOpen(source) && !own.closing)',
        'if (batch.highWatermark < 0 && feed.isOpen(source) && !own.closing)',
        'a log that ends before what was read of it is not noticed',
      ],
      [
        'misrouted-kept',
        scheduler('intake'),
        'if (to !== this.#options.partition) return this.#misrouted(mail, record, key, to)\n',
        '',
        'a record in the wrong partition is taken there',
        'seeds 1-60',
      ],
      [
        'moved-without-mark',
        scheduler('fold'),
        ', headers: { [movedHeader]: String(to) } })',
        ', headers: {} })',
        'what a move leaves behind reads as a deletion',
        'seeds 1-60',
      ],
      [
        'foreign-report',
        scheduler('intake'),
        '      if (report.jobId !== mail.jobId) throw',
        '      if (report.jobId === "") throw',
        'a report under the key of another job counts',
        'scheduler/poison',
      ],
    ],
  ),
  ...area(
    'positions',
    ['scheduler/positions'],
    [
      [
        'end-is-beyond',
        scheduler('positions'),
        "if (offset > next) return 'beyond-end'",
        "if (offset >= next) return 'beyond-end'",
        'a position at the end counts as outside',
      ],
      [
        'expired-to-end',
        scheduler('positions'),
        'return { from: range.earliest, end: range.next',
        'return { from: range.next, end: range.next',
        'what a log that was made anew holds is skipped',
      ],
      [
        'first-as-expired',
        scheduler('positions'),
        "return offset < earliest ? 'expired' : undefined",
        "return offset <= earliest ? 'expired' : undefined",
        'a position at the beginning counts as expired',
      ],
      [
        'first-definition-decided',
        scheduler('positions'),
        'specOffset: state.definitionKept ? 0 : -1',
        'specOffset: 0',
        'the first record of a new log of definitions counts as known',
      ],
      [
        'definitions-not-unbound',
        scheduler('positions'),
        'const anew = { ...position, claimOffset, claimedAt, jobsOffset: 0 }',
        'const anew = { ...position, claimOffset, claimedAt }',
        'what a new log of definitions holds counts as decided',
      ],
    ],
  ),
  ...area(
    'standby',
    ['scheduler/current-reads', 'scheduler/takeovers'],
    [
      [
        'standby-deaf',
        scheduler('restoring'),
        'if (position) own.logged.jobsOffset =',
        'if (position && own.phase !== "following") own.logged.jobsOffset =',
        'a standby does not hear what is decided',
        'seeds 1-60',
      ],
      [
        'stale-timers-followed',
        scheduler('following'),
        'for (const key of gone) if (!there.some((other) => other.equals(key))) ops.push({ key, value: null })',
        '',
        'a standby keeps the timers of runs that have ended',
        'seeds 1-60',
      ],
      [
        'definition-unknown-to-standby',
        scheduler('following'),
        'if (before.state === undefined || after.state === undefined) lacking.push',
        'if (before.state === undefined && after.state === undefined) lacking.push',
        'a standby keeps the timer that the first decision has replaced',
        'seeds 1-60',
      ],
      [
        'standby-shows-itself-current',
        scheduler('partition'),
        "return this.#own.phase === 'active' && this.#isCurrent ? this.#own.store : undefined",
        "return this.#own.phase === 'active' ? this.#own.store : undefined",
        'an owner that may be fenced answers as the owner',
      ],
    ],
  ),
]

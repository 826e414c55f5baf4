/** Mutations of what owners and workers do while a pool is paused, and of what a process knows of the pauses. */
import { area } from '../mutation.ts'

const rule = 'streams/runs/paused-pool.ts'
const routing = 'streams/runs/routing.ts'
const book = 'src/log/pauses/pause-book.ts'

export const pauseMutations = [
  ...area(
    'paused pools',
    ['streams/runs/paused-pool', 'seeds 1-62'],
    [
      [
        'pause-counts',
        rule,
        'run.startDeadlineAt + pausedMs',
        'run.startDeadlineAt',
        'the time of a pause counts until the start deadline',
      ],
      [
        'paused-at-its-deadline',
        rule,
        'if (since >= run.startDeadlineAt) return false',
        'return false',
        'a dispatched run that nobody starts because of a pause expires',
      ],
      [
        'pause-costs-an-attempt',
        rule,
        ', releasedAttempts: run.releasedAttempts + 1',
        '',
        'an attempt that nobody starts because of a pause counts against maxAttempts',
      ],
      [
        'resumed-in-vain',
        rule,
        'if (pauseOf(draft, run, context) === undefined) leavePool(draft, run, context)\n}\n\n/**',
        '}\n\n/**',
        'runs do not go on when their pool is resumed',
      ],
      [
        'paused-beyond-expiry',
        rule,
        'else if (now >= expireAtOf(draft)) expire(draft, run, context)\n',
        '',
        'a run whose job has expired waits for its pool',
      ],
      [
        'left-before-its-lead',
        rule,
        'if (run.dueAt - now > leadMs) return void',
        'if (run.dueAt - now > 9e15) return void',
        'a run that waits because a clock was ahead is dispatched before its time',
      ],
      [
        'left-hours-late',
        rule,
        'waiting.dueAt - now > leadMsLimit ? dueNow(waiting, now) : waiting',
        'waiting',
        'a run that waits because a clock was hours ahead starts hours late',
      ],
      [
        'paused-and-dispatched',
        routing,
        "if (context.pauseOf?.(pool) !== undefined) return 'paused'",
        '',
        'runs of a paused pool are dispatched',
      ],
      [
        'checked-after-expiry',
        'streams/runs/wait-checks.ts',
        ', poolChecks), Math.max(expireAt, now))',
        ', poolChecks), Infinity)',
        'a run that waits for its pool expires up to 10 minutes too late',
      ],
    ],
  ),
  ...area(
    'known pauses',
    ['pauses/pause-book', 'seeds 1-62'],
    [
      [
        'late-batch-counts',
        book,
        'if (!isLast()) return\n      this.#apply',
        'this.#apply',
        'a batch that waited for the registry undoes what a later reader has read',
      ],
      [
        'late-position-counts',
        book,
        '        if (!isLast()) return\n        this.#positions.advance',
        '        this.#positions.advance',
        'the position of a lost reader lets the next one skip a pause',
      ],
      [
        'paused-and-started',
        'src/worker/executor/executor.ts',
        'isPaused: () => this.#pause.isPaused',
        'isPaused: () => false',
        'a worker starts runs of its paused pool',
        'executor/paused-pool',
      ],
    ],
  ),
]

/** Mutations of the guard of the clock and of the auditor. */
import { area } from '../mutation.ts'

export const witnessMutations = [
  ...area(
    'clock guard',
    ['clock/clock-trust', 'clock/guarded-clock', 'scheduler/clock'],
    [
      [
        'forward-only',
        'src/clock/clock-trust.ts',
        'Math.abs(offsetMs - line.offsetMs) > stepMsMax) this.#turn',
        'offsetMs - line.offsetMs > stepMsMax) this.#turn',
        'a clock that is set back is trusted',
      ],
      [
        'old-words-stay',
        'src/clock/clock-trust.ts',
        '      if (votes.asked) this.#forget()\n',
        '',
        'what brokers said before a step stops the clock again',
      ],
      [
        'minority-stops',
        'src/clock/clock-trust.ts',
        "else if (votes.against > votes.notAgainst) this.#turn('brokers'",
        "else if (votes.against > 0) this.#turn('brokers'",
        'one broker with a wrong clock stops everybody',
      ],
      [
        'slow-answer-proves',
        'src/clock/clock-trust.ts',
        'return sure && notAgainst >= against',
        'return notAgainst >= against',
        'an answer that took long proves the time',
      ],
      [
        'steps-followed',
        'src/clock/clock-trust.ts',
        'const room = isExact ? Number.POSITIVE_INFINITY :',
        'const room = true ? Number.POSITIVE_INFINITY :',
        'many small steps in a row are none',
      ],
      [
        'first-answer-proves',
        'src/clock/guarded-clock.ts',
        'const mayTrust = this.#ask === undefined || this.#endedMs >= this.#trust.sinceMs',
        'const mayTrust = true',
        'the first broker that answers is believed',
      ],
      [
        'turn-without-guard',
        'src/scheduler/commit/commit-cycle.ts',
        'const readMs = writer === undefined ? shared.clock.nowMs() : trustedMs(shared.clock)',
        'const readMs = trustedMs(shared.clock) ?? shared.clock.nowMs()',
        'a turn decides by a clock that is not trusted',
      ],
      [
        'no-grant-after-stop',
        'src/scheduler/partition/run-loop.ts',
        '    if (isStopped) context.leases.grant(now)\n',
        '',
        'what was heard by a wrong time counts',
      ],
    ],
  ),
  ...area(
    'auditor',
    ['auditor/verdict', 'auditor/ledger', 'auditor/audited-partition', 'auditor/clock', 'auditor/reading/completeness'],
    [
      [
        'pairs-excused',
        'src/auditor/review/review.ts',
        '    if (dispatches > 1)\n',
        '    if (dispatches > 2)\n',
        'an attempt may be dispatched twice',
      ],
      [
        'records-excused',
        'src/auditor/review/review.ts',
        'if (run.records > 1)',
        'if (run.records > 2)',
        'a record may be written twice',
      ],
      [
        'overdue-at-once',
        'src/auditor/review/review.ts',
        '(undecided?.spec?.jitterMs ?? 0) + scope.graceMs',
        '(undecided?.spec?.jitterMs ?? 0)',
        'a job is overdue without a grace',
      ],
      [
        'skips-counted-twice',
        'src/auditor/review/calendar.ts',
        'const excused = skipped - begin.skipped - resolved + queued',
        'const excused = skipped - resolved + queued',
        'skips of an earlier stretch excuse this one',
      ],
      [
        'last-unjudged',
        'src/auditor/review/calendar.ts',
        'while (at !== null && at < until) {',
        'while (at !== null && at + 60_000 < until) {',
        'the last occurrence of a stretch is not judged',
      ],
      [
        'judged-late',
        'src/auditor/ledger.ts',
        'account.checkAt = Math.min(account.checkAt ?? checkAt, checkAt)',
        'account.checkAt = Math.max(account.checkAt ?? checkAt, checkAt)',
        'a job of which something comes again and again is never judged',
      ],
      [
        'retention-blamed',
        'src/auditor/reading/completeness.ts',
        '    this.#cut(topic, timestampMs)\n  }\n\n  #cut',
        '  }\n\n  #cut',
        'what retention has taken counts as never dispatched',
      ],
    ],
  ),
]

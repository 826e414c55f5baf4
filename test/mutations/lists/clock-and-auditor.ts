/** Mutations of the clock guard and of the auditor. */
import { area } from '../mutation.ts'

export const clockAndAuditorMutations = [
  ...area(
    'clock guard',
    ['clock/clock-trust', 'clock/guarded-clock', 'scheduler/clock'],
    [
      [
        'forward-only',
        'src/ground/clock/clock-trust.ts',
        'Math.abs(offsetMs - line.offsetMs) > stepMsMax) this.#setDistrust',
        'offsetMs - line.offsetMs > stepMsMax) this.#setDistrust',
        'a clock that is set back is trusted',
      ],
      [
        'old-votes-stay',
        'src/ground/clock/clock-trust.ts',
        '      if (votes.asked) this.#forget()\n',
        '',
        'answers of brokers from before a step stop the clock again',
      ],
      [
        'minority-stops',
        'src/ground/clock/clock-trust.ts',
        "else if (votes.against > votes.notAgainst) this.#setDistrust('brokers'",
        "else if (votes.against > 0) this.#setDistrust('brokers'",
        'one broker with a wrong clock stops everybody',
      ],
      [
        'slow-answer-proves',
        'src/ground/clock/clock-trust.ts',
        'return sure && notAgainst >= against',
        'return notAgainst >= against',
        'a slow answer counts as proof of the time',
      ],
      [
        'steps-followed',
        'src/ground/clock/clock-trust.ts',
        'const room = isExact ? Number.POSITIVE_INFINITY :',
        'const room = true ? Number.POSITIVE_INFINITY :',
        'many small steps of the clock are not noticed',
      ],
      [
        'first-answer-proves',
        'src/ground/clock/guarded-clock.ts',
        'const mayTrust = this.#ask === undefined || this.#endedMs >= this.#trust.sinceMs',
        'const mayTrust = true',
        'the clock is trusted after the answer of the first broker',
      ],
      [
        'cycle-without-guard',
        'src/scheduler/commit/commit-cycle.ts',
        'const now = writer === undefined ? shared.clock.nowMs() : trustedMs(shared.clock)',
        'const now = trustedMs(shared.clock) ?? shared.clock.nowMs()',
        'a commit cycle decides by an untrusted clock',
      ],
      [
        'no-grant-after-stop',
        'src/scheduler/partition/run-loop.ts',
        '    if (isStopped) context.activity.leases.grant(now)\n',
        '',
        'heartbeats noted with a wrong time still count after a stop of the clock',
      ],
    ],
  ),
  ...area(
    'auditor',
    ['auditor/verdict', 'auditor/ledger', 'auditor/audited-partition', 'auditor/clock', 'auditor/reading/completeness'],
    [
      [
        'pairs-excused',
        'src/tools/auditor/review.ts',
        '    if (dispatches > 1)\n',
        '    if (dispatches > 2)\n',
        'the auditor allows two dispatches of an attempt',
      ],
      [
        'records-excused',
        'src/tools/auditor/review.ts',
        'if (run.records > 1)',
        'if (run.records > 2)',
        'the auditor allows a record to be written twice',
      ],
      [
        'overdue-at-once',
        'src/tools/auditor/review.ts',
        '(undecided?.spec?.jitterMs ?? 0) + scope.graceMs',
        '(undecided?.spec?.jitterMs ?? 0)',
        'a job is overdue without the grace',
      ],
      [
        'skips-counted-twice',
        'src/tools/auditor/calendar.ts',
        'const excused = skipped - begin.skipped - resolved + queued',
        'const excused = skipped - resolved + queued',
        'skips of an earlier stretch excuse missing runs of this one',
      ],
      [
        'last-unjudged',
        'src/tools/auditor/calendar.ts',
        'while (at !== null && at < until) {',
        'while (at !== null && at + 60_000 < until) {',
        'the last occurrence of a stretch is not judged',
      ],
      [
        'judged-late',
        'src/tools/auditor/ledger.ts',
        'account.checkAt = Math.min(account.checkAt ?? checkAt, checkAt)',
        'account.checkAt = Math.max(account.checkAt ?? checkAt, checkAt)',
        'a job with frequent records is never judged',
      ],
      [
        'retention-blamed',
        'src/tools/auditor/reading/lanes.ts',
        '    this.#cut(topic, timestampMs)\n  }\n\n  #cut',
        '  }\n\n  #cut',
        'records that retention removed count as never dispatched',
      ],
    ],
  ),
]

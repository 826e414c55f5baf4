/** docs/ERRORS.md: the codes of src/errors/errors.ts, and the types that Duelog itself writes into failed attempts. */
import { errorTable } from '../../src/errors/errors.ts'
import { code, heading, page, table } from './markdown.ts'

/**
 * Types of attempt errors that are not the class name of what a handler threw. A test compares them with the code, because
 * users put them into `retry.nonRetryable`.
 */
export const attemptErrorTypes: Record<string, { retried: string; meaning: string }> = {
  AttemptTimeout: { retried: 'yes', meaning: 'The handler had not returned `attemptTimeoutMs` after its start.' },
  LeaseLost: { retried: 'yes, at once', meaning: 'The worker was silent for longer than `leaseMs`; it may be dead, or cut off.' },
  NonRetryableError: { retried: 'no', meaning: 'The handler threw it, or the payload was not the JSON it says it is.' },
  RetryLaterError: { retried: 'yes, after its own delay', meaning: 'The handler threw it with the delay it wants.' },
  ResultNotJson: { retried: 'no', meaning: 'What the handler returned cannot be written as JSON.' },
  ResultTooLarge: { retried: 'no', meaning: 'What the handler returned is over 64 KB of JSON.' },
  BatchOutcomesWrong: {
    retried: 'no',
    meaning: 'What a batch handler returned does not fit the runs it was given; what became of each of them is unknown.',
  },
  'encode-failed': { retried: 'no', meaning: 'What the handler gave does not fit the record of the report.' },
  'report-refused': {
    retried: 'no',
    meaning:
      'The brokers refused the report for what it holds, as where `execution-events` takes smaller records than Duelog writes.',
  },
  'handler-missing': { retried: 'yes', meaning: 'The worker that got the run has no handler of that name; another one may.' },
  Error: { retried: 'yes', meaning: 'The handler threw something that is not an Error, or that cannot be read.' },
}

export function errorsPage(): string {
  const rows = Object.entries(errorTable).map(([name, { status, retriable, meaning }]) => [
    code(name),
    String(status),
    retriable ? 'yes' : 'no',
    meaning,
  ])
  const types = Object.entries(attemptErrorTypes).map(([name, { retried, meaning }]) => [code(name), retried, meaning])
  return page(
    heading(
      'Errors',
      'src/errors/errors.ts',
      'Codes are stable; texts may get better. Every message says what happened, where, and what to do. *Again* tells whether the same call may succeed later.',
    ),
    table(['Code', 'HTTP', 'Again', 'Meaning'], rows),
    [
      '## Where they show',
      '',
      '- **HTTP**: an RFC 9457 problem with `Content-Type: application/problem+json`, the code in `code`, and every single thing that is wrong in `problems`. A 503 carries `Retry-After`. A 202 with `wait-timeout` is no failure: the change is durable.',
      '- **In code**: a `DuelogError` with `code`, `status`, `retriable` and `message`.',
      '- **On the command line**: one sentence on stderr and an [exit code](CLI.md#exit-codes); `--debug` adds where it happened.',
      '- **In a record that somebody else wrote**: nobody can be answered, so the job becomes `INVALID` with the reason in `GET /v1/jobs/{id}`. A record that cannot be given to any job is logged with topic, partition and offset and counted in `duelog_invalid_total`. No partition stops for it.',
    ].join('\n'),
    [
      '## Types of failed attempts',
      '',
      'A failed attempt has the name of the class that the handler threw as its `type`, or one of these. `retry.nonRetryable` may name any of them.',
    ].join('\n'),
    table(['Type', 'Retried', 'Meaning'], types),
  )
}

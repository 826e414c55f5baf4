/** docs/ERRORS.md: the codes of src/ground/errors/errors.ts, and the types that Duelog itself writes into failed attempts. */
import { errorTable } from '../../src/ground/errors/errors.ts'
import { code, heading, page, table } from './markdown.ts'

/**
 * Types of attempt errors that are not the class name of what a handler threw. A test compares them with the code, because
 * users put them into `retry.nonRetryable`.
 */
export const attemptErrorTypes: Record<string, { retried: string; meaning: string }> = {
  AttemptTimeout: { retried: 'yes', meaning: 'The handler had not returned `attemptTimeoutMs` after its start.' },
  LeaseLost: { retried: 'yes, at once', meaning: 'The worker was silent for longer than `leaseMs`. It may be dead, or cut off.' },
  NonRetryableError: {
    retried: 'no',
    meaning: 'The handler threw it, or the payload is not JSON although its content type says so.',
  },
  PayloadInvalid: {
    retried: 'no',
    meaning: 'The payload does not match the schema of its handler; the message names the fields.',
  },
  RetryLaterError: { retried: 'yes, after its own delay', meaning: 'The handler threw it with the delay it wants.' },
  BatchOutcomesWrong: {
    retried: 'no',
    meaning: 'The outcomes of a batch handler do not match the runs that it got. The outcome of each run is unknown.',
  },
  'encode-failed': { retried: 'no', meaning: 'A value from the handler does not fit the record of the report.' },
  'report-refused': {
    retried: 'no',
    meaning:
      'The brokers refused the content of the report, for example because `execution-events` takes only smaller records than Duelog writes.',
  },
  'handler-missing': {
    retried: 'yes',
    meaning:
      'The worker that got the run has no handler of that name. This costs no attempt: the run goes to another worker, or waits for one that has it.',
  },
  Error: { retried: 'yes', meaning: 'The handler threw a value that is not an Error, or that cannot be read.' },
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
      'src/ground/errors/errors.ts',
      'Codes are stable; texts may improve. Every message says what happened, where, and what to do. *Again* says whether the same call may succeed later.',
    ),
    table(['Code', 'HTTP', 'Again', 'Meaning'], rows),
    [
      '## Where errors appear',
      '',
      '- **HTTP**: an RFC 9457 problem with `Content-Type: application/problem+json`, the code in `code`, and each fault in `problems`. A 503 has `Retry-After`. A 202 with `wait-timeout` is no failure: the change is durable.',
      '- **In code**: a `DuelogError` with `code`, `status`, `retriable` and `message`.',
      '- **On the command line**: one sentence on stderr and an [exit code](CLI.md#exit-codes); `--debug` adds where it happened.',
      '- **In a record from another writer**: there is no caller to answer, so the job becomes `INVALID` with the reason in `GET /v1/jobs/{id}`. A record that belongs to no job is logged with topic, partition and offset and counted in `duelog_invalid_total`. No partition stops for it.',
    ].join('\n'),
    [
      '## Types of failed attempts',
      '',
      'The `type` of a failed attempt is the class name of the error that the handler threw, or one of these. `retry.nonRetryable` may name any of them.',
    ].join('\n'),
    table(['Type', 'Retried', 'Meaning'], types),
  )
}

/**
 * Every error that a user can get: one table of code, HTTP status and whether a retry can help.
 * Codes are stable; texts may change. docs/ERRORS.md is tested against this table.
 */
export const errorTable = {
  'bad-config': { status: 500, retriable: false, meaning: 'A setting is unknown or its value is not allowed.' },
  'bad-request': { status: 400, retriable: false, meaning: 'The request does not have the form that the route accepts.' },
  'bad-definition': {
    status: 400,
    retriable: false,
    meaning: 'A job definition has a field that is unknown, missing, out of its limits or contradicts another field.',
  },
  'bad-job-id': {
    status: 400,
    retriable: false,
    meaning: 'A job id is empty, longer than 255 bytes of UTF-8, has control characters, or is "." or ".."',
  },
  'bad-usage': { status: 400, retriable: false, meaning: 'A command line, or a file that it names, is wrong; nothing was done.' },
  unauthorized: { status: 401, retriable: false, meaning: 'The request carries no known bearer token.' },
  forbidden: { status: 403, retriable: false, meaning: "The token's role, or the origin of the request, does not allow it." },
  'unsupported-media-type': {
    status: 415,
    retriable: false,
    meaning: 'The body does not have a media type that the route accepts.',
  },
  'too-many-requests': {
    status: 429,
    retriable: true,
    meaning: 'A caller has sent too many requests, or has failed to sign in too often.',
  },
  'identity-unavailable': { status: 503, retriable: true, meaning: 'The keys that sign tokens could not be loaded.' },
  overloaded: {
    status: 503,
    retriable: true,
    meaning: 'A queue of this process is full; no part of the request was carried out.',
  },
  'payload-too-large': { status: 413, retriable: false, meaning: 'A payload or body is over its limit.' },
  'not-found': { status: 404, retriable: false, meaning: 'There is no such job, run or route.' },
  'method-not-allowed': {
    status: 405,
    retriable: false,
    meaning: 'The path has no such method; the header Allow lists those that it has.',
  },
  'command-refused': {
    status: 409,
    retriable: false,
    meaning: 'The owner of the job did not carry out the command; the detail says why.',
  },
  'version-conflict': {
    status: 412,
    retriable: false,
    meaning: 'The job is not as If-Match or If-None-Match says: it has changed, or it exists already.',
  },
  'wait-timeout': {
    status: 202,
    retriable: true,
    meaning:
      'What a request waits for did not happen in time: the definition is durable, but the owner has not applied it, or the run has not ended.',
  },
  'run-failed': {
    status: 409,
    retriable: false,
    meaning: 'The run that a client waits for has not succeeded, or cannot come. Only the library gives this error.',
  },
  'not-ready': {
    status: 503,
    retriable: true,
    meaning:
      'What answers this is not ready at the moment: a partition has no active owner, for example while it restores, or the history cannot be read.',
  },
  'peer-refused': {
    status: 503,
    retriable: true,
    meaning:
      'Another process refuses the requests of this one, or does not prove that it belongs to this system: their tokens differ.',
  },
  'encode-failed': { status: 400, retriable: false, meaning: 'A value does not fit its schema.' },
  'record-refused': {
    status: 500,
    retriable: false,
    meaning: 'The broker refused a record because of its contents. If an owner wrote it for a job, the job is INVALID.',
  },
  undecodable: {
    status: 422,
    retriable: false,
    meaning: 'Bytes on a topic are not Avro in the Confluent wire format with a known schema.',
  },
  'registry-unavailable': { status: 503, retriable: true, meaning: 'The schema registry did not answer.' },
  'broker-unavailable': { status: 503, retriable: true, meaning: 'No broker could be reached.' },
  unreachable: { status: 503, retriable: true, meaning: 'No Duelog answers at the URL that the command line was given.' },
  fenced: { status: 503, retriable: true, meaning: 'Another process has taken over the partition.' },
  'system-moved': {
    status: 503,
    retriable: false,
    meaning: 'The system was moved to topics with another prefix, and its owners decide nothing any more.',
  },
  'unsafe-topic': {
    status: 503,
    retriable: false,
    meaning: 'A topic is missing, or has settings under which jobs could be lost or fire twice.',
  },
  'log-shrunk': {
    status: 503,
    retriable: true,
    meaning:
      'The end of a topic of Duelog is before the position that was already read: the topic was truncated, or deleted and created again.',
  },
  'changelog-cut': {
    status: 503,
    retriable: false,
    meaning:
      'job-state has lost what the local store of its owner has read: it was truncated, or deleted and created again. The message says what to do.',
  },
  'kafka-denied': {
    status: 503,
    retriable: false,
    meaning: 'The brokers refuse an operation of this process: its principal lacks an ACL.',
  },
  'foreign-data': { status: 500, retriable: false, meaning: 'The data folder belongs to another version or another cluster.' },
  'embedded-failed': { status: 500, retriable: false, meaning: 'The embedded broker or registry could not be started.' },
  'handler-missing': {
    status: 500,
    retriable: false,
    meaning: 'The worker has no handler of that name. The run goes to another worker, or waits for one.',
  },
  internal: { status: 500, retriable: false, meaning: 'A fault of Duelog itself.' },
} as const satisfies Record<string, { status: number; retriable: boolean; meaning: string }>

export type ErrorCode = keyof typeof errorTable

/** An error whose code a user can rely on. The message says what happened, where, and what to do. */
export class DuelogError extends Error {
  readonly code: ErrorCode
  constructor(code: ErrorCode, message: string, options?: { cause?: unknown }) {
    super(message, options)
    this.name = 'DuelogError'
    this.code = code
  }
  get status(): number {
    return errorTable[this.code].status
  }
  get retriable(): boolean {
    return errorTable[this.code].retriable
  }
}

/**
 * The brokers cannot keep a group and give no reason. Nearly always the user data of its members is together larger than a record may be:
 * a broker writes all of it as one record. Then no member can join, and those that were there have lost their partitions.
 */
export class GroupNotKept extends DuelogError {
  constructor(groupId: string, cause: unknown) {
    super(
      'broker-unavailable',
      `The brokers cannot keep group ${groupId} and give no reason. Usually its members announce more together than message.max.bytes of the brokers allows (default 1 MiB).`,
      { cause },
    )
  }
}

const ofRecords: ReadonlySet<ErrorCode> = new Set(['payload-too-large', 'record-refused'])

/**
 * Whether brokers refused a single record because of its content, and would have accepted the others without it. Other errors are
 * about the topic or the whole write.
 */
export const isOfRecord = (thrown: unknown): boolean => thrown instanceof DuelogError && ofRecords.has(thrown.code)

/** Message of any thrown value. */
export function messageOf(thrown: unknown): string {
  return thrown instanceof Error ? thrown.message : String(thrown)
}

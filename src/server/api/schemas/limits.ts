/** Every limit of the HTTP surface, in one place; schemas, messages and tests read them here. */
export {
  bucketsMax,
  dueJobsMax,
  faultReasonCharsMax,
  handlersRangeMsMax,
  historyBucketMsDefault,
  historyBucketMsMin,
  historyBucketsMax,
  horizonMaxMs,
  listChunkMax,
  listLimitMax,
  proofFindingsMax,
  runWaitMsMax,
} from '../../peers/index.ts'

/** Largest body of a single request, and largest line of a batch, in bytes. */
export const bodyBytesMax = 1_048_576
/**
 * Maximum size of a record, in bytes of `recordBytes`. The writer accepts at most 1,000,000, so some bytes are left for headers
 * that a write adds.
 */
export const recordBytesMax = 990_000

/** Maximum bytes of writes that the brokers have not answered. More are refused as `overloaded`. */
export const queuedBytesMax = 64 * 1024 * 1024
/** Maximum number of these writes. Jobs and audit records together stay below the limit of the writer (kafka/writing/writer.ts). */
export const queuedWritesMax = 50_000

/** Maximum number of writes that wait for an earlier write of the same job, over all jobs. More are refused as `overloaded`. */
export const lockWaitersMax = 10_000
/** Maximum number of jobs whose last write by this process is remembered. */
export const lastWritesMax = 10_000

/** Time for which a request waits until the owner has applied its write. */
export const appliedWaitMs = 5_000
/**
 * Time for which a request waits for the end of a run. The maximum is below the idle time after which a connection is closed; a client that
 * waits longer sends the request again.
 */
export const runWaitMsDefault = 30_000
/**
 * Maximum requests that wait for ends of runs, in one process and of one caller. More are refused as `overloaded`. Each holds a connection,
 * and some of these (connectionsMax) stay free for others.
 */
export const runWaitsMax = 1_500
export const runWaitsPerCallerMax = 1_000
/** Pause before another owner is asked when a partition moves during such a wait. */
export const runWaitAgainMs = 250
/** Time for which a read waits for earlier writes of this process. */
export const readOwnWriteWaitMs = 1_000

/** Maximum groups of lines of one batch that are written and not answered yet. */
export const batchGroupsMax = 4
/** With wait=applied: number of first jobs whose status is read at the end of a batch. */
export const batchStatusesMax = 200

/** Queries of the history at once. */
export const historyQueriesAtOnce = 2

export const listLimitDefault = 100
/** Maximum jobs of the first call to an owner, when their size is not known yet. */
export const listFirstChunkMax = 16
/**
 * Maximum calls to owners for each partition of a list, in addition to those for a full page. Each call scans at most 10,000
 * jobs.
 */
export const listCallsMax = 4
/** After this time a page asks no owner again. */
export const listMsMax = 5_000
/** Maximum bytes of payloads and headers on one page. The page ends there, but has at least one job. */
export const listBytesMax = 8 * 1024 * 1024

/** Maximum pages of jobs that are built at once. Each holds a full page and the further jobs that its owners returned. */
export const listsAtOnce = 4

export const previewCountDefault = 10
export const previewCountMax = 1_000

/** Idle time after which a connection is closed. */
export const connectionIdleMs = 60_000
/** Time that open requests get after stop. */
export const stopGraceMs = 5_000
/** Value of Retry-After, in seconds. */
export const retryAfterSeconds = 1

/** Interval of the messages at /v1/events. */
export const statsIntervalMs = 1_000
/**
 * Interval at which owners are prepared for searches while the dashboard is open. It is well below the time after which they drop
 * the search index.
 */
export const searchPrepareMs = 60_000
/** Maximum connections to /v1/events of one process. More are refused as `overloaded`. */
export const listenersMax = 200
/** Maximum of these connections for one caller, so that one caller cannot shut out all others. */
export const listenersPerCallerMax = 100
/** Maximum bytes that wait for a slow listener. Above it messages are skipped; each message is complete in itself. */
export const listenerBytesMax = 256 * 1024
/** JSON answers from this length on have an ETag, so that they need not be sent again; up to a length that takes some milliseconds to hash. */
export const hashedCharsMin = 512
export const hashedCharsMax = 4 * 1024 * 1024
/** Answers from this length on are compressed, up to a maximum length, and at most this many at once; others go as they are. */
export const compressedCharsMin = 1_024
export const compressedCharsMax = 16 * 1024 * 1024
export const compressedAtOnceMax = 2
/** Maximum characters of unread answers. Above it the connections that have waited longest are closed. */
export const unreadCharsMax = 64 * 1024 * 1024
/** Maximum requests with incomplete bodies, including batches. More are refused as `overloaded`. */
export const bodiesMax = 1_000
/** Maximum of these requests for one caller, and for all viewers together: viewers cannot shut out writers. */
export const bodiesPerCallerMax = 500
/** Time in which the body of a single request must arrive. */
export const bodyReceiveMs = 30_000
/** Time in which the headers of a request must arrive, and the interval of that check. */
export const headersReceiveMs = 10_000
export const headersCheckMs = 2_000
/** Maximum open connections. A further one replaces another, first one without a request. */
export const connectionsMax = 2_000
/** Default of DUELOG_HTTP_RATE_LIMIT: requests per second of one caller. Twice this number may come at once. */
export const ratePerSecondDefault = 2_000
/**
 * Number of different wrong tokens from one address at once, and per second after that. An IPv6 address counts as its network of
 * 64 bits.
 */
export const refusedSignInsMax = 20
export const refusedSignInsPerSecond = 0.5
/** The same for all addresses together. */
export const refusedSignInsInAllMax = 1_000
export const refusedSignInsInAllPerSecond = 50
/** Time for which a token is remembered as wrong. It may be accepted later. */
export const refusedTokensKeptMs = 10_000
/** Maximum tokens that are remembered as accepted from an address, and as wrong. */
export const signInsKeptMax = 10_000
/** Interval of the log lines with the number of tokens that were refused without a check. */
export const signInsLoggedMs = 60_000
/** Maximum callers whose rate is remembered. */
export const rateCallersMax = 10_000
/** Timeout of a request for the keys of an identity provider. */
export const jwksTimeoutMs = 5_000

/** Maximum number of latest records of the audit trail that are served. */
export const auditKeptMax = 10_000
/** Maximum bytes of them, as they are in the topic. */
export const auditKeptBytesMax = 16 * 1024 * 1024
/** In one record: maximum fields that a definition changed, characters of a value, and IDs of a batch. */
export const auditChangesMax = 50
export const auditValueCharsMax = 200
export const auditJobIdsMax = 1_000
/** Lines of a run in one answer, and bytes of their texts; the answer ends there, but has at least one line. */
export const runLogLinesDefault = 500
export const runLogLinesMax = 1_000
export const runLogAnswerBytesMax = 2 * 1024 * 1024
/** Maximum requests for lines that read from the brokers at once, in one process. Others wait. */
export const runLogReadsAtOnce = 4
/**
 * Maximum bytes of one such request to the brokers. An answer also ends after this many bytes of records of any run, and after this time:
 * a partition may hold gigabytes between two attempts of a run.
 */
export const runLogFetchBytes = 1024 * 1024
export const runLogScanBytesMax = 16 * 1024 * 1024
export const runLogScanMs = 2_000
/** Lines are looked for from this long before the run started: clocks of brokers and workers differ. */
export const runLogBeforeMs = 10_000
/** And until this long after it ended: its handler may have gone on. */
export const runLogAfterMs = 60_000

/** Time for which a request waits until the audit trail has been read to its end. */
export const auditCaughtUpMs = 5_000

/**
 * The series of `/v1/series`: length of their steps and of what is kept, in the last hour and in the last 24 h. A process samples the
 * owners once in each fine step.
 */
export const seriesFineStepMs = 10_000
export const seriesHourMs = 3_600_000
export const seriesStepMs = 60_000
export const seriesDayMs = 86_400_000
/** Maximum marks in the series, of them from one sample, and maximum processes whose counts are compared. */
export const seriesMarksMax = 500
export const seriesMarksAtOnceMax = 20
export const seriesProcessesMax = 200
/** Maximum bytes of the file that is read at the start. */
export const seriesFileBytesMax = 8 * 1024 * 1024

/** Maximum definitions of one plan, and how many of them owners are asked about and times are calculated for at once. */
export const planJobsMax = 1_000
export const planAskedMax = 32
/** Times that are compared for one job, and maximum for a whole plan. */
export const planFiresDefault = 100
export const planFiresMax = 1_000
export const planTimesMax = 100_000
export const planHorizonDefaultMs = 7 * 86_400_000
export const forecastHorizonDefaultMs = 3_600_000
/** Jobs that are listed for a range of a forecast. */
export const dueJobsDefault = 100
export const bucketsDefault = 60

/** Maximum jobs that are searched for cycles of follow-up jobs: for one job, for a whole plan, and concurrently. */
export const cycleJobsMax = 64
export const planCycleJobsMax = 1_000
export const cycleAskedMax = 16

/** Kinds of errors that are listed with dead letters. */
export const errorKindsListed = 50
/** Maximum jobs or dead runs that one operation lists by their ids. */
export const operationIdsMax = 10_000
/** Maximum bytes of the payload of an operation: each of its jobs gets a copy in the log. */
export const operationPayloadBytesMax = 65_536
/** Maximum operations that have not ended. More are refused as `overloaded`. */
export const operationsActiveMax = 100
/** The same of one caller. More are refused as `too-many-requests`. */
export const operationsPerCallerMax = 50
/** Of both, as many places only for what cannot wait: PAUSE, CANCEL and CANCEL_RUN, and callers that have none. */
export const operationsReserved = 10
/** Maximum ended operations that are kept, and for how long. */
export const operationsKeptMax = 1_000
export const operationsKeptMs = 7 * 86_400_000
/** Time after which an operation that could not end has failed. */
export const operationMsMax = 7 * 86_400_000
/** Time for which a request waits until the topic operations has been read to its end. */
export const operationsCaughtUpMs = 5_000
/** The limits of the room src/server/operations. */
export const operationLimits = {
  ...{
    operationsActiveMax,
    operationsPerCallerMax,
    operationsReserved,
    operationsKeptMax,
    operationsKeptMs,
    operationMsMax,
    operationsCaughtUpMs,
    recordBytesMax,
  },
} as const
/** Maximum occurrences that the count of a backfill counts. */
export const backfillCountMax = 100_000
/** A range of the past may end this much later than now, because clocks of clients differ. It is cut to now. */
export const clientAheadMsMax = 60_000

/** Maximum duration of one calculation of times: a preview, the count of a backfill, or `planAskedMax` jobs of a plan. */
export const calculationMsMax = 2_000
/** How long the thread of the calculations may take to start, and how long it is kept without one. */
export const calculatorStartMsMax = 10_000
export const calculatorIdleMs = 30_000

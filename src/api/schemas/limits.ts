/** Every limit of the HTTP surface, in one place; schemas, messages and tests read them here. */

/** Largest body of a single request, and largest line of a batch, in bytes. */
export const bodyBytesMax = 1_048_576
/** Largest record that is sent to the broker, in bytes of key and value; the writer adds some and takes at most 1,000,000. */
export const recordBytesMax = 990_000

/** Maximum bytes of writes that the brokers have not answered. More are refused as `overloaded`. */
export const queuedBytesMax = 64 * 1024 * 1024
/** Maximum number of these writes. Jobs and audit records together stay below the limit of the writer (kafka/writing/writer.ts). */
export const queuedWritesMax = 50_000

/** Writes to single jobs that wait for an earlier one of the same job; more are refused as `overloaded`. */
export const lockWaitersMax = 10_000
/** Jobs whose last write by this process is remembered. */
export const lastWritesMax = 10_000

/** How long a request waits for the owner to apply what it wrote. */
export const appliedWaitMs = 5_000
/** How long a read waits for what this process itself wrote before it. */
export const readOwnWriteWaitMs = 1_000

/** Groups of lines of one batch request that are written but not yet answered. */
export const batchGroupsMax = 4
/** With wait=applied: the first jobs of a batch whose standing is looked at when it ends. */
export const batchStandingsMax = 200

export const listLimitDefault = 100
export const listLimitMax = 1_000
/** Jobs asked of one owner in one call, and in the first call, when their size is not known yet. */
export const listChunkMax = 100
export const listFirstChunkMax = 16
/** Calls to owners that one list may make for each partition, besides those that a full page needs; each scans at most 10,000 jobs. */
export const listCallsMax = 4
/** Definitions of one page, in bytes of payload and headers; the page is cut short at it, never before its first job. */
export const listBytesMax = 8 * 1024 * 1024

/** Pages of jobs that are put together at once; each holds so much, and what owners gave of which it has no room for. */
export const listsAtOnce = 4

export const previewCountDefault = 10
export const previewCountMax = 1_000

/** How old the map of owners may grow before it is read again. */
export const ownersMaxAgeMs = 5_000
/** Shortest time between two reads of the map of owners after errors. */
export const ownersRefreshGapMs = 250
/** How long what other processes say of their copies is taken as it was. */
export const standbysMaxAgeMs = 500
/** How long another process may take to answer for its partitions, besides the wait that was asked for. */
export const remoteTimeoutMs = 5_000
/** Largest answer of another process, in bytes: a list of 100 jobs of 1 MiB in base64 fits. */
export const remoteBytesMax = 160 * 1024 * 1024

/** Idle time after which a connection is closed. */
export const connectionIdleMs = 60_000
/** How long open requests may go on after stop. */
export const stopGraceMs = 5_000
/** What Retry-After says, in seconds. */
export const retryAfterSeconds = 1

/** How often the listeners of /v1/events hear of the counts. */
export const statsIntervalMs = 1_000
/** How often owners are prepared for searches while somebody looks: well before they forget what they have prepared. */
export const searchPrepareMs = 60_000
/** Connections to /v1/events of one process; more are refused as `overloaded`. */
export const listenersMax = 200
/** Of these, connections of one caller: nobody shuts out all others. */
export const listenersPerCallerMax = 100
/** Bytes that may wait for a listener that reads slowly; it then misses pulses, each of which is complete in itself. */
export const listenerBytesMax = 256 * 1024
/** Characters of answers that nobody has read yet; where there are more, connections that have waited longest are closed. */
export const unreadCharsMax = 64 * 1024 * 1024
/** Requests whose bodies are still coming, batches among them; more are refused as `overloaded`. */
export const bodiesMax = 1_000
/** Of these, those of one caller, and those of all viewers together: nobody who may only look keeps out who writes. */
export const bodiesPerCallerMax = 500
/** How long the body of a single request may take to arrive. */
export const bodyReceiveMs = 30_000
/** How long the headers of a request may take to arrive, and how often that is looked at. */
export const headersReceiveMs = 10_000
export const headersCheckMs = 2_000
/** Connections that are open at once. For one more another gives way, first one that has no request under way. */
export const connectionsMax = 2_000
/** Requests a second that one caller may send, and twice as many at once; DUELOG_HTTP_RATE_LIMIT says otherwise. */
export const ratePerSecondDefault = 2_000
/** Different wrong tokens that one address may send at once, and a second after that; an IPv6 address stands for its network of 64 bits. */
export const refusedSignInsMax = 20
export const refusedSignInsPerSecond = 0.5
/** Those of all addresses together. */
export const refusedSignInsInAllMax = 1_000
export const refusedSignInsInAllPerSecond = 50
/** How long a wrong token is known to be wrong: it may be one that is accepted later. */
export const refusedTokensKeptMs = 10_000
/** Tokens that are remembered as accepted from an address, and as wrong. */
export const signInsKeptMax = 10_000
/** How often the log hears how many were refused unseen. */
export const signInsLoggedMs = 60_000
/** Callers whose rate is remembered. */
export const rateCallersMax = 10_000
/** How long the keys of an identity provider may take. */
export const jwksTimeoutMs = 5_000

/** Latest records of the audit trail that are served. */
export const auditKeptMax = 10_000
/** Faults of the log that the proof lists, and how old what the auditors said may be. */
export const proofFindingsMax = 100
export const proofMaxAgeMs = 2_000
/** How long a question waits until the trail has been read to its end. */
export const auditCaughtUpMs = 5_000

/** Definitions of one plan, and how many owners are asked about at once. */
export const planJobsMax = 1_000
export const planAskedMax = 16
/** Times that are compared of one job, and of a whole plan. */
export const planFiresDefault = 100
export const planFiresMax = 1_000
export const planTimesMax = 100_000
export const planHorizonDefaultMs = 7 * 86_400_000
export const forecastHorizonDefaultMs = 3_600_000
/** Farthest look ahead: ten years. */
export const horizonMaxMs = 3_653 * 86_400_000
export const bucketsDefault = 60
export const bucketsMax = 1_000

/** Jobs that are looked at for circles of follow-ups: of one job, of a whole plan, and how many at once. */
export const cycleJobsMax = 64
export const planCycleJobsMax = 1_000
export const cycleAskedMax = 16

/** Jobs of a page of dead letters that owners are asked about at once: of each they give the last runs with their results, some 600 kB at most. */
export const deadLetterJobsAtOnce = 16
/** Dead runs that one call redrives. */
export const redriveMax = 1_000
/** Dead runs that one such call names as left. */
export const redrivesLeftMax = 1_000

/** Calculations of schedules that wait for those before them; more are refused as `overloaded`. */
export const computationsWaitingMax = 10_000
/** How long they may keep a process from everything else at a time, besides the last step of it. */
export const computationMs = 3
/** Steps of search that one request may take: about two seconds of a processor. No time is measured, as others may have the processor. */
export const computationRequestSteps = 200_000_000
/** How long it may take with all its waits: beside a process that is busy with runs that are due, two seconds of a processor may be minutes. */
export const computationRequestMs = 30_000
/** Of a batch besides, for each of its lines: so many as an ordinary rule takes, however many lines there are. */
export const computationLineSteps = 2_000

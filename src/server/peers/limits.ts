/** Limits of calls between processes. The public API has some of them too. */

/** Maximum age of the map of owners. */
export const ownersMaxAgeMs = 5_000
/** Minimum time between two reads of the map of owners after errors. */
export const ownersRefreshGapMs = 250
/** Maximum age of what other processes report about their copies. */
export const standbysMaxAgeMs = 500
export const proofMaxAgeMs = 2_000
/** How long the places of processes with a history are remembered. */
export const historyPlacesMaxAgeMs = 10_000
/** How long a process holds the answer that it lives. */
export const aliveHoldMs = 500
/** Timeout of a request to another process, in addition to the wait that the request asks for. */
export const remoteTimeoutMs = 5_000
/** Maximum answer of another process, in bytes: a list of 100 jobs of 1 MiB in base64 fits. */
export const remoteBytesMax = 160 * 1024 * 1024

export const listLimitMax = 1_000
/** Maximum jobs of one call to an owner, and of the first call, when their size is not known yet. */
export const listChunkMax = 100
export const runWaitMsMax = 45_000
/** Longest range of a forecast, ten years, and its buckets. */
export const horizonMaxMs = 3_653 * 86_400_000
export const bucketsMax = 1_000
/** Jobs that are listed for a range of a forecast. */
export const dueJobsMax = 500
/** Maximum jobs of one call of an operation to an owner. */
export const targetsMax = 5_000
/** Maximum jobs of one call of an operation that the owner changes itself, and how long the owner may take. */
export const changesMax = 5_000
export const changeWaitMs = 12_000
/** How long an owner may be asked to tell when its partition leaves. */
export const announceWaitMsMax = 30_000
/** Maximum findings in the proof. */
export const proofFindingsMax = 100
/** Maximum characters of what an operator says about a fault. */
export const faultReasonCharsMax = 500
/** The longest range of counts of the history, in buckets. */
export const historyBucketsMax = 10_000
export const historyBucketMsDefault = 3_600_000
export const historyBucketMsMin = 60_000
/** Longest range of the figures by handler. */
export const handlersRangeMsMax = 31 * 86_400_000

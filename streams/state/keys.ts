/**
 * Key layouts of the partition store and of the changelog. One byte says what a key is; the bytes are never reused.
 *
 *   M·name                                     local and logged bookkeeping of the partition
 *   D·jobId                                    definition: offset i64 BE, append time i64 BE, the record's value as it came
 *   S·jobId                                    JobState (StateEntry, framed)
 *   R·jobId·00·slot u8                         finished run, slot = runNo mod 10: the run history; a later run overwrites the slot
 *   P·jobId·00·runNo u64 BE                    snapshot: Execution that a run is dispatched from again; with run number 0 the job's definition
 *   F·jobId·00·page u64 BE                     follow-ups that wait (streams/runs/follow-ups.ts)
 *   I·kind u8·value·00·jobId                   index key of a job, empty value: job-index.ts
 *   L…                                         the store's own: src/log/store/write-sequence.ts
 *   T·dueAt u64 BE·kind u8·jobId·00·runNo u64  timer, empty value
 *   C·concurrencyKey                           use of the key: number of runs that hold a slot, and that wait
 *   Q·concurrencyKey·00·rank u8·dueAt u64 BE·jobId·00·runNo u64   a run that waits for a slot, empty value
 *   W·rateKey                                  the last starts that were given under a rateLimit
 *
 * Big-endian unsigned numbers compare as bytes in the order of their values, so T keys iterate in due order, then by kind,
 * then by job id, and the Q keys of one concurrencyKey by rank (priority, then attempts), then by due time. T and Q are only in the store: they follow from S,
 * and an outdated entry is dropped when it is read. C could be counted from all S, but reading all of them for one slot would take too
 * long. So C is logged, as W is, in the transaction of the decisions that it counts.
 * A job id contains no control character (streams/definitions/validate.ts), and neither does the key of a limit. So 00 ends them without
 * escaping, and no key range includes keys of another id.
 */

export const prefix = {
  meta: 0x4d,
  definition: 0x44,
  state: 0x53,
  run: 0x52,
  snapshot: 0x50,
  followUps: 0x46,
  timer: 0x54,
  index: 0x49,
  slots: 0x43,
  waiter: 0x51,
  starts: 0x57,
} as const

/** Kinds of timers. Numbers are part of the key and are never reused. */
export const timerKind = {
  fire: 1,
  lease: 2,
  attemptTimeout: 3,
  startDeadline: 4,
  retry: 5,
  delete: 6,
  start: 7,
  recheck: 8,
  /** Never stored: checks a job after the rules of its time zone have changed. */
  zone: 9,
  /** Never stored: corrects times that were set by a clock that was ahead. */
  misdated: 10,
  /** Never stored: the workers of the run's pool have changed. */
  workers: 11,
  /** Never stored: a topic or a pool that was missing for some job exists now. */
  target: 12,
  /** There is a place for a follow-up that waits. */
  followUps: 13,
} as const
export type TimerKind = (typeof timerKind)[keyof typeof timerKind]

/** A timer. runNo is 0 for timers of the job itself. */
export interface Timer {
  dueAt: number
  kind: TimerKind
  jobId: string
  runNo: number
}

/** A run in the queue of its concurrencyKey. */
export interface Waiter {
  key: string
  /** 0 goes before 1. */
  rank: number
  /** Epoch ms; within a rank the earlier goes first. */
  dueAt: number
  jobId: string
  runNo: number
  /** It goes before others of a better rank, because it has been due longest. Not part of the key. */
  isAged?: true
}

/** Finished runs kept besides the last one. */
export const runHistorySize = 10

function idKey(first: number, jobId: string): Buffer {
  const length = Buffer.byteLength(jobId)
  const key = Buffer.allocUnsafe(1 + length)
  key[0] = first
  key.write(jobId, 1, 'utf8')
  return key
}

export const definitionKey = (jobId: string): Buffer => idKey(prefix.definition, jobId)
export const stateKey = (jobId: string): Buffer => idKey(prefix.state, jobId)
export const metaKey = (name: string): Buffer => idKey(prefix.meta, name)

/** Key of the marker of a partition that a restore has begun to write and has not ended. No owner may decide anything in it. */
export const restoringKey = metaKey('restoring')

/** Key of the marker of a partition whose system was moved to another prefix. Nobody may claim it. */
export const movedKey = metaKey('moved')

/** Keys of the last claim and of the committed position. */
export const ownerKey = metaKey('owner')
export const positionKey = metaKey('position')

/** Key of the slot of an ended run in the run history. */
export function runKey(jobId: string, runNo: number): Buffer {
  return Buffer.concat([idKey(prefix.run, jobId), Buffer.of(0, runNo % runHistorySize)])
}

export const snapshotKey = (jobId: string, runNo: number): Buffer => numberedKey(prefix.snapshot, jobId, runNo)

export const followUpsKey = (jobId: string, page: number): Buffer => numberedKey(prefix.followUps, jobId, page)

function numberedKey(first: number, jobId: string, no: number): Buffer {
  const key = Buffer.alloc(1 + Buffer.byteLength(jobId) + 9)
  key[0] = first
  key.write(jobId, 1, 'utf8')
  writeU64(key, no, key.length - 8)
  return key
}

/** Key of a definition that jobs may lose to compaction. */
export const retainedDefinitionKey = (jobId: string): Buffer => snapshotKey(jobId, 0)

export const isRetainedDefinition = (key: Buffer): boolean => key[0] === prefix.snapshot && readU64(key, key.length - 8) === 0

export function timerKey(timer: Timer): Buffer {
  const length = Buffer.byteLength(timer.jobId)
  const key = Buffer.allocUnsafe(19 + length)
  key[0] = prefix.timer
  writeU64(key, timer.dueAt, 1)
  key[9] = timer.kind
  key.write(timer.jobId, 10, 'utf8')
  key[10 + length] = 0
  writeU64(key, timer.runNo, 11 + length)
  return key
}

/** The first possible timer key at an instant: a bound for range scans. */
export function timerBound(dueAt: number): Buffer {
  const key = Buffer.allocUnsafe(9)
  key[0] = prefix.timer
  writeU64(key, dueAt, 1)
  return key
}

export function timerOfKey(key: Buffer): Timer {
  return {
    dueAt: readU64(key, 1),
    kind: key[9] as TimerKind,
    jobId: key.toString('utf8', 10, key.length - 9),
    runNo: readU64(key, key.length - 8),
  }
}

/** Key of the slot use of a concurrencyKey. */
export const slotsKey = (key: string): Buffer => idKey(prefix.slots, key)
/** Key of the starts that were given under a rateLimit. */
export const startsKey = (key: string): Buffer => idKey(prefix.starts, key)
/** The concurrencyKey or the key of a rateLimit that a C or W key is for. */
export const limitKeyOf = (key: Buffer): string => key.toString('utf8', 1)

export function waiterKey({ key, rank, dueAt, jobId, runNo }: Waiter): Buffer {
  const bytes = Buffer.concat([idKey(prefix.waiter, key), Buffer.alloc(19 + Buffer.byteLength(jobId))])
  const at = 1 + Buffer.byteLength(key)
  bytes[at + 1] = rank
  writeU64(bytes, dueAt, at + 2)
  bytes.write(jobId, at + 10, 'utf8')
  writeU64(bytes, runNo, bytes.length - 8)
  return bytes
}

export function waiterOfKey(bytes: Buffer): Waiter {
  const at = bytes.indexOf(0, 1)
  return {
    key: bytes.toString('utf8', 1, at),
    rank: bytes[at + 1] ?? 0,
    dueAt: readU64(bytes, at + 2),
    jobId: bytes.toString('utf8', at + 10, bytes.length - 9),
    runNo: readU64(bytes, bytes.length - 8),
  }
}

/** The first possible key of the queue of a concurrencyKey with this rank, 0 to 255. */
export const waitersOfRank = (key: string, rank: number): Buffer =>
  Buffer.concat([keyAfter(idKey(prefix.waiter, key)), Buffer.of(rank)])

/** Bounds of the queue of a concurrencyKey: from is the first possible key, to the first beyond. */
export function waitersRange(key: string): { from: Buffer; to: Buffer } {
  const bytes = idKey(prefix.waiter, key)
  return { from: keyAfter(bytes), to: Buffer.concat([bytes, Buffer.of(1)]) }
}

/** Id of the job that a D, S, R, P or F key belongs to. */
export function jobIdOfKey(key: Buffer): string {
  if (key[0] === prefix.definition || key[0] === prefix.state) return key.toString('utf8', 1)
  return key.toString('utf8', 1, key.indexOf(0, 1))
}

/** The least key above `key`, where a scan continues after it. */
export function keyAfter(key: Buffer): Buffer {
  return Buffer.concat([key, Buffer.of(0)])
}

/** The value of entries that consist of their key alone. */
export const emptyValue = Buffer.alloc(0)

/** Bounds of all keys of one kind: from is the first possible, to the first beyond. */
export function rangeOf(first: number): { from: Buffer; to: Buffer } {
  return { from: Buffer.of(first), to: Buffer.of(first + 1) }
}

// Numbers stay below 2^53, so two 32-bit halves are exact and spare a BigInt for each key.
function writeU64(buffer: Buffer, value: number, at: number): void {
  buffer.writeUInt32BE(Math.floor(value / 0x1_0000_0000), at)
  buffer.writeUInt32BE(value >>> 0, at + 4)
}

function readU64(buffer: Buffer, at: number): number {
  return buffer.readUInt32BE(at) * 0x1_0000_0000 + buffer.readUInt32BE(at + 4)
}

/** Content of a D value: offset, append time and the bytes of the record. */
export interface StoredDefinition {
  offset: number
  appendedAt: number
  /** The value of the record in jobs, as the producer wrote it. */
  bytes: Buffer
}

const definitionHead = 16

export function definitionValue(stored: StoredDefinition): Buffer {
  const value = Buffer.allocUnsafe(definitionHead + stored.bytes.length)
  writeU64(value, stored.offset, 0)
  writeU64(value, stored.appendedAt, 8)
  stored.bytes.copy(value, definitionHead)
  return value
}

export function storedDefinition(value: Buffer): StoredDefinition {
  return { offset: readU64(value, 0), appendedAt: readU64(value, 8), bytes: value.subarray(definitionHead) }
}

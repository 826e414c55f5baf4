/**
 * Checks a store once everything has come to rest: it must be consistent by the program's own functions. Whether its content is
 * right is the question of the oracle (test/model/oracle).
 */
import type { JobState } from '../../../schemas/generated.ts'
import { knownDefinition } from '../../../src/ground/records/decoders.ts'
import { ownerKey } from '../../../src/scheduler/state/checkpoint.ts'
import type { Job, KnownDefinition } from '../../../streams/state/job.ts'
import {
  jobIdOfKey,
  prefix,
  slotsKey,
  storedDefinition,
  type Timer,
  timerKind,
  timerOfKey,
  waiterKey,
} from '../../../streams/state/keys.ts'
import { waitersOf } from '../../../streams/state/slots.ts'
import { timersOf } from '../../../streams/state/timers.ts'
import type { MemoryStore } from '../../tools/memory-store.ts'
import type { Life } from '../oracle/lives.ts'
import { codecs } from '../world.ts'

/** Kinds of keys that the logs alone decide. */
export const durable = new Set<number>([
  prefix.definition,
  prefix.state,
  prefix.run,
  prefix.snapshot,
  prefix.followUps,
  prefix.slots,
  prefix.starts,
])

/** The keys and values that the logs alone decide, as text that a test can compare, without some jobs. */
export function durableOf(store: MemoryStore, without: ReadonlySet<string>): string[] {
  return store
    .dump()
    .filter(([key]) => durable.has(Number.parseInt(key.slice(0, 2), 16)) && !without.has(subjectOf(Buffer.from(key, 'hex'))))
    .map(([key, value]) => `${readable(key)} ${value}`)
}

/** The subject of a changelog key: a job, or a limit. */
export const subjectOf = (key: Buffer): string =>
  key[0] === prefix.slots || key[0] === prefix.starts ? key.toString() : jobIdOfKey(key)

const readable = (key: string): string => JSON.stringify(Buffer.from(key, 'hex').toString('latin1'))

export function jobsOf(store: MemoryStore): Map<string, Job> {
  const jobs = new Map<string, Job>()
  for (const [hexKey, hexValue] of store.dump()) {
    const [key, value] = [Buffer.from(hexKey, 'hex'), Buffer.from(hexValue, 'hex')]
    if (key[0] !== prefix.definition && key[0] !== prefix.state) continue
    const job: Job = jobs.get(jobIdOfKey(key)) ?? { id: jobIdOfKey(key) }
    if (key[0] === prefix.definition) job.definition = knownDefinition(codecs, storedDefinition(value)) as KnownDefinition
    else job.state = stateOf(value) ?? undefined
    jobs.set(job.id, job)
  }
  return jobs
}

function stateOf(value: Buffer): JobState | null {
  const entry = codecs.state.decode(value)
  if (entry instanceof Promise) throw new Error('An unknown schema.')
  return entry.state
}

const timersIn = (store: MemoryStore): Timer[] =>
  store
    .dump()
    .map(([key]) => Buffer.from(key, 'hex'))
    .filter((key) => key[0] === prefix.timer)
    .map(timerOfKey)

/** `lives`: the lives that the oracle knows of the jobs of this store. */
export function unsettled(store: MemoryStore, lives: Map<string, Life[]>): string[] {
  const problems: string[] = []
  const timers = timersIn(store)
  const jobs = jobsOf(store)
  for (const job of jobs.values()) {
    checkTimers(job, timers, problems)
    checkQueue(job, store, problems)
    const { id, definition, state } = job
    if (definition === undefined) problems.push(`${id} has a state and no definition`)
    else if (state !== undefined && state.specOffset !== definition.offset)
      problems.push(`${id} stands at the definition ${definition.offset}, its state at ${state.specOffset}`)
    const life = lives.get(id)?.at(-1)
    if (life?.endedBy !== undefined) problems.push(`${id} was deleted and is still there`)
    else if (life !== undefined && definition !== undefined && definition.offset !== life.definitions.at(-1)?.offset)
      problems.push(`${id} has the definition ${definition.offset}; ${life.definitions.at(-1)?.offset} is in force`)
  }
  for (const [id, of] of lives) {
    if (of.at(-1)?.endedBy === undefined && !jobs.has(id) && store.dump().length > 0) problems.push(`${id} is missing`)
  }
  if (store.getNow([ownerKey])[0] === null) problems.push('Nobody has claimed the partition.')
  return problems
}

function checkTimers(job: Job, timers: Timer[], problems: string[]): void {
  for (const timer of timersOf(job)) {
    const same = timers.filter(({ jobId, kind, runNo }) => jobId === timer.jobId && kind === timer.kind && runNo === timer.runNo)
    // A renewed lease has a later timer than the state says, and so has a run whose handler was checked again.
    const moves = timer.kind === timerKind.lease || (timer.kind === timerKind.retry && isCheck(job, timer))
    if (moves ? same.length > 0 : same.some(({ dueAt }) => dueAt === timer.dueAt)) continue
    problems.push(`${job.id} has lost its timer of kind ${timer.kind} at ${timer.dueAt}`)
  }
}

const isCheck = ({ state }: Job, { runNo }: Timer): boolean =>
  state?.active.some((run) => run.runNo === runNo && run.handlerMissingAt !== null) === true

/** A run that waits for a slot is in the queue, and another run holds a slot. */
function checkQueue(job: Job, store: MemoryStore, problems: string[]): void {
  for (const waiter of waitersOf(job.id, job.state)) {
    if (store.getNow([waiterKey(waiter)])[0] === null)
      problems.push(`${job.id}/${waiter.runNo} is not in the queue of ${waiter.key}`)
    const value = store.getNow([slotsKey(waiter.key)])[0]
    const entry = value ? codecs.state.decode(value) : undefined
    if (entry instanceof Promise) throw new Error('An unknown schema.')
    if ((entry?.slots?.held ?? 0) === 0)
      problems.push(`${job.id}/${waiter.runNo} waits for ${waiter.key}, of which nobody holds a slot`)
  }
}

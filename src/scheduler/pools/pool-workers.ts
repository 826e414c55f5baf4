/**
 * The workers of pools and their handlers, as the members of their groups announce them. Owners ask here where a run may go, without
 * waiting: each answer is from the last view of the group. A view is read when it is used and older than a few seconds, so an idle
 * system asks nothing. While runs wait for a handler, or were sent to one worker that has not started them, it is read every second.
 *
 * The views are not part of any log. A wrong answer costs time and no run: a worker reports a run that it cannot do, and a run for a
 * worker that has left is sent to another one.
 */
import type { Route } from '../../../streams/state/index.ts'
import type { TopicNames } from '../../../streams/topics/index.ts'
import type { Clock } from '../../ground/clock/index.ts'
import { BoundedMap, withTimeout } from '../../ground/concurrency/index.ts'
import type { Logger, LogLine } from '../../ground/logging/index.ts'
import { type Metrics, type Reading, whenRead } from '../../ground/metrics/index.ts'
import type { GroupMember, LogAdmin } from '../../ground/ports/index.ts'
import { isNamed } from '../../ground/process/index.ts'
import { handlersOf } from '../../ground/records/index.ts'

/** Age after which a view is read again at its next use: if all workers of the pool have the same handlers, and if not. */
const ageMsMax = 5_000
const unequalAgeMsMax = 1_000
/** An older view says nothing. */
export const outdatedMs = 30_000
/** How long the metric shows a number: others may have looked later. */
const shownMs = 300_000
/** How often the views are read while a run depends on them. */
const watchMs = 1_000
/** A lookup that has no answer by then has failed. */
const lookupMsMax = 10_000
/** Pools that are known, and workers that are remembered as gone; the oldest go first. */
const poolsMax = 1_000
const goneMax = 1_000
/** Handlers, and names, whose workers are remembered for one view. */
const routesMax = 10_000
/** A sentence about one handler or pool is logged at most once in this time. */
const loggedMs = 600_000

interface View {
  readAtMs: number
  readSteadyMs: number
  /** Handlers by instance; null: not announced. */
  workers: ReadonlyMap<string, ReadonlySet<string> | null>
  /** When each was seen first; epoch ms. */
  sinceMs: ReadonlyMap<string, number>
  /** See Context#namedSince. Filled when asked. */
  named: BoundedMap<string, number | null | undefined>
  /** Whether all workers have the same handlers, as far as they announce them. */
  isEqual: boolean
  signature: string
  /** Workers that have a handler, for those that not all have. Filled when asked. */
  routes: BoundedMap<string, 'any' | string[]>
}

export interface PoolWorkersOptions {
  admin: Pick<LogAdmin, 'groupMembers'>
  names: TopicNames
  clock: Clock
  metrics: Metrics
  logger: Logger
  /** Whether a run waits for a handler, or was sent to one worker. Then changes are looked for. */
  isWatched(): boolean
  /** The workers of a pool have changed, or are known for the first time. */
  onChanged(): void
}

export class PoolWorkers {
  readonly #options: PoolWorkersOptions
  readonly #views = new BoundedMap<string, View | undefined>(poolsMax)
  readonly #lookups = new Set<string>()
  readonly #goneAt = new BoundedMap<string, number>(goneMax)
  readonly #logged = new BoundedMap<string, number>(poolsMax)
  /** Pools whose workers differ, or whose runs depend on one worker. */
  readonly #watched = new Set<string>()
  #version = 0
  #cancelWatch: (() => void) | undefined
  #isStopped = false

  constructor(options: PoolWorkersOptions) {
    this.#options = options
    whenRead(options.metrics.poolWorkers, () => this.#counts())
  }

  /** Grows with each change of a view. */
  get version(): number {
    return this.#version
  }

  /** See Context#routeTo. */
  routeTo(pool: string, handler: string, except: string | null): Route {
    const view = this.#view(pool)
    if (view === undefined || view.workers.size === 0) return 'any'
    let route = view.routes.get(handler)
    if (route === undefined) {
      route = routeIn(view, handler)
      view.routes.set(handler, route)
    }
    if (route === 'any') return 'any'
    this.#watch(pool)
    if (route.length === 0) {
      this.#say(
        `${pool}\0${handler}`,
        { event: 'pool-without-handler', pool, handler },
        `No worker of pool ${pool} has the handler ${handler}. Runs of its jobs wait for one, and lose no attempt.`,
      )
      return 'none'
    }
    const others = except === null ? route : route.filter((worker) => worker !== except)
    return others.length === 0 ? 'none' : { workers: others }
  }

  /** See Context#goneAt. `sinceMs`: an earlier view says nothing about this worker. */
  goneAt(pool: string, worker: string, sinceMs: number): number | undefined {
    const view = this.#view(pool)
    this.#watch(pool)
    if (view === undefined || view.readAtMs < sinceMs || view.workers.has(worker)) return undefined
    return Math.max(this.#goneAt.get(worker) ?? view.readAtMs, sinceMs)
  }

  /** See Context#namedSince. A worker that announces nothing may have a name that nobody sees. */
  namedSince(pool: string, pinTo: string): number | null | undefined {
    const view = this.#view(pool)
    this.#watch(pool)
    if (view === undefined) return undefined
    if (!view.named.has(pinTo)) view.named.set(pinTo, this.#namedIn(view, pinTo))
    return view.named.get(pinTo)
  }

  #namedIn({ workers, sinceMs }: View, pinTo: string): number | null | undefined {
    const there = [...sinceMs].filter(([instance]) => isNamed(pinTo, instance))
    if (there.length === 0) return [...workers.values()].includes(null) ? undefined : null
    // If several have the name, one of them takes a run, and the others do not take it later.
    const left = [...this.#goneAt].filter(([instance]) => isNamed(pinTo, instance))
    return Math.max(...[...there, ...left].map(([, atMs]) => atMs))
  }

  stop(): void {
    this.#isStopped = true
    this.#cancelWatch?.()
  }

  #counts(): Reading[] {
    const sinceMs = this.#options.clock.steadyMs() - shownMs
    return [...this.#views].flatMap(([pool, view]) =>
      view !== undefined && view.readSteadyMs >= sinceMs ? [{ labels: { pool }, value: view.workers.size }] : [],
    )
  }

  /** The last view, unless it is outdated. It is read again in the background if it is old. */
  #view(pool: string): View | undefined {
    const view = this.#views.get(pool)
    const ageMs = view === undefined ? Number.POSITIVE_INFINITY : this.#options.clock.steadyMs() - view.readSteadyMs
    if (ageMs >= (view?.isEqual === false ? unequalAgeMsMax : ageMsMax)) void this.#read(pool)
    return ageMs < outdatedMs ? view : undefined
  }

  async #read(pool: string): Promise<void> {
    if (this.#lookups.has(pool) || this.#isStopped) return
    this.#lookups.add(pool)
    const { admin, names, clock } = this.#options
    if (!this.#views.has(pool)) this.#views.set(pool, undefined)
    // Who joined or left after that is in the next view.
    const [readAtMs, readSteadyMs] = [clock.nowMs(), clock.steadyMs()]
    try {
      let members: GroupMember[] | undefined
      const lookup = admin.groupMembers(names.group(`exec.${pool}`)).then((found) => {
        members = found
      })
      await withTimeout(clock, lookupMsMax, lookup)
      // While the group assigns its partitions, it does not show what its members announce.
      if (members === undefined || members.some(({ isJoining }) => isJoining === true)) return
      this.#seen(pool, viewOf(members, readAtMs, readSteadyMs))
    } catch (error) {
      this.#say(
        `${pool}\0`,
        { event: 'pool-workers-unknown', pool, err: error },
        `The workers of pool ${pool} could not be looked up. Until that is possible, its runs go to any of them.`,
      )
    } finally {
      this.#lookups.delete(pool)
      if (this.#options.isWatched()) this.#watch(pool)
    }
  }

  #seen(pool: string, view: View): void {
    const before = this.#views.get(pool)
    const isKnown = before !== undefined && view.readSteadyMs - before.readSteadyMs < outdatedMs
    const isSame = isKnown && before.signature === view.signature
    if (isSame) Object.assign(view, { sinceMs: before.sinceMs, named: before.named })
    else if (isKnown)
      view.sinceMs = new Map([...view.sinceMs].map(([instance, atMs]) => [instance, before.sinceMs.get(instance) ?? atMs]))
    this.#views.set(pool, view)
    for (const worker of view.workers.keys()) this.#goneAt.delete(worker)
    for (const worker of before?.workers.keys() ?? []) {
      if (!view.workers.has(worker) && !this.#goneAt.has(worker)) this.#goneAt.set(worker, view.readAtMs)
    }
    if (view.workers.size === 0)
      this.#say(pool, { event: 'pool-without-workers', pool }, `No worker serves pool ${pool}. Its runs wait in its topics.`)
    if (isSame) return
    this.#version++
    this.#options.onChanged()
  }

  /** Reads the view again soon, and again, as long as a run depends on any view. */
  #watch(pool: string): void {
    if (this.#watched.size < poolsMax) this.#watched.add(pool)
    this.#watchAgain()
  }

  #watchAgain(): void {
    if (this.#cancelWatch !== undefined || this.#isStopped) return
    const { clock, isWatched } = this.#options
    this.#cancelWatch = clock.at(clock.nowMs() + watchMs, () => {
      this.#cancelWatch = undefined
      if (!isWatched()) return this.#watched.clear()
      for (const pool of this.#watched) void this.#read(pool)
      this.#watchAgain()
    })
  }

  #say<Name extends 'pool-without-workers' | 'pool-without-handler' | 'pool-workers-unknown'>(
    key: string,
    line: LogLine<Name>,
    sentence: string,
  ): void {
    const { clock, logger } = this.#options
    const steadyMs = clock.steadyMs()
    if (steadyMs - (this.#logged.get(key) ?? Number.NEGATIVE_INFINITY) < loggedMs) return
    this.#logged.set(key, steadyMs)
    logger.warn(line, sentence)
  }
}

function viewOf(members: readonly GroupMember[], readAtMs: number, readSteadyMs: number): View {
  const workers = new Map<string, Set<string> | null>()
  const signatures: string[] = []
  const announced = new Set<string>()
  for (const { instance, userData } of members) {
    const names = handlersOf(userData)
    const known = workers.get(instance)
    // Two members with one name are one worker to an owner: it may have the handlers of both.
    workers.set(instance, names === null || known === null ? null : new Set([...(known ?? []), ...names]))
    // Our workers announce their names in one order.
    const text = names === null ? '*' : JSON.stringify(names)
    signatures.push(`${instance} ${text}`)
    if (names !== null) announced.add(text)
  }
  return {
    ...{ readAtMs, readSteadyMs, workers, sinceMs: new Map([...workers.keys()].map((instance) => [instance, readAtMs])) },
    named: new BoundedMap(routesMax),
    signature: signatures.sort().join('\n'),
    isEqual: announced.size <= 1,
    routes: new BoundedMap(routesMax),
  }
}

/** A worker that announces nothing may have the handler: a run goes to it through the topics, as it may not read worker-control. */
function routeIn({ workers }: View, handler: string): 'any' | string[] {
  const having = [...workers].filter(([, handlers]) => handlers?.has(handler)).map(([instance]) => instance)
  const isUnknown = [...workers.values()].includes(null)
  if (having.length === workers.size || (having.length === 0 && isUnknown)) return 'any'
  const lacking = [...workers.values()].some((handlers) => handlers !== null && !handlers.has(handler))
  return lacking ? having.sort() : 'any'
}

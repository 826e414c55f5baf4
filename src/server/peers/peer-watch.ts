/**
 * Notices the death of another process before its session in the group ends. The members of a group form a ring, in the order of their
 * names. Each process watches the two after it: one call `alive` to each is always open, and is answered after half a second.
 *
 *   heard ──connection refused──► dead                        (behind a front: refused for 1 s, or the front says so)
 *     │ ▲
 *     │ └──an answer, or the other watcher has heard it
 *     └──nothing for 2 s──► silent ──the other watcher, or without one a broker, agrees──► dead
 *   dead ──► its members are removed from the groups of its roles
 *
 * Nothing here fences anybody: a process that is removed by mistake joins again, and until then the fence of the next owner decides who
 * fires. Without an answer of anybody the session decides, as it does for members that have no URL.
 */
import type { Clock } from '../../ground/clock/index.ts'
import { BoundedMap, withTimeout } from '../../ground/concurrency/index.ts'
import type { Logger } from '../../ground/logging/index.ts'
import type { Metrics } from '../../ground/metrics/index.ts'
import { isRefused } from '../../ground/network/index.ts'
import type { GroupMember } from '../../ground/ports/index.ts'
import { aliveHoldMs } from './limits.ts'
import { ringOf } from './ring.ts'

/** `gone`: the front of this process answers, and its engine is dead. */
export type PeerState = 'alive' | 'leaving' | 'gone'

/** Another process, as the watch calls it. */
export interface Peer {
  /** The answer comes after `aliveHoldMs`, so that a connection is open all the time. */
  alive(): Promise<PeerState>
  /** Milliseconds since the callee has heard an instance; null if it does not watch it, or never heard it. */
  hears(instance: string): Promise<number | null>
}

export interface PeerWatchOptions {
  /** Groups of which this process is a member. */
  groups: readonly string[]
  /** name@host:pid:boot of this process. */
  instance: string
  members: (groupId: string) => Promise<GroupMember[]>
  remote: (url: string) => Peer
  /** The URL of a member that may be called, from its user data. */
  urlOf: (userData: unknown) => string | undefined
  /** Whether that URL is the one of a front, which can end without its engine. */
  hasFront: (userData: unknown) => boolean
  /** Whether this process is about to leave its groups. It says so, and removes nobody. */
  isLeaving: () => boolean
  /** Removes the members of an instance from all groups. Resolves with their number. */
  remove: (instance: string) => Promise<number>
  clock: Clock
  metrics: Pick<Metrics, 'peersHeard' | 'peersRemoved'>
  logger: Logger
}

export const tickMs = 100
/** Silence after which the other watcher is asked. */
export const silentMsMax = 2_000
/** How long the front of a process may refuse connections: it is started again within this time only if it is fast. */
export const frontRefusedMsMax = 1_000
/** How often the members of the groups are read. */
export const membersMs = 2_000
const answerMsMax = 1_000
const readMsMax = 5_000
/** An instance is removed at most once in this time. */
export const removedMsMin = 30_000
const watchedEach = 2
const removedMax = 1_000
/** Between two calls to a process that does not answer. */
const againMs = 100

interface Watched {
  instance: string
  /** One for each group, so that a member that joined again is another one. */
  memberIds: string
  peer: Peer
  hasFront: boolean
  /** The other members that watch it. */
  others: readonly Peer[]
  state: PeerState
  /** Undefined: it was never heard. Ticks count, so that a pause of this process is no silence of others. */
  silentMs: number | undefined
  /** When it refused first since it was heard. */
  refusedSinceMs: number | undefined
  /** Whether its refusals mean its death. */
  isRefusing: boolean
  /** Steady time before which it is not judged again. */
  judgedAgainAtMs: number
}

export class PeerWatch {
  readonly #options: PeerWatchOptions
  #watched = new Map<string, Watched>()
  readonly #removedAtMs = new BoundedMap<string, number>(removedMax)
  #isStopped = false
  #tickedAtMs = 0
  #readAtMs = Number.NEGATIVE_INFINITY
  #isReading = false
  #cancelTick = (): void => {}
  #holds = new Set<() => void>()

  constructor(options: PeerWatchOptions) {
    this.#options = options
  }

  start(): void {
    this.#tickedAtMs = this.#options.clock.steadyMs()
    this.#tick()
  }

  stop(): void {
    this.#isStopped = true
    this.#cancelTick()
    for (const end of this.#holds) end()
  }

  /** For the process that watches this one. */
  async alive(): Promise<PeerState> {
    if (!this.#isLeaving) await this.#wait(aliveHoldMs)
    return this.#isLeaving ? 'leaving' : 'alive'
  }

  hears(instance: string): number | null {
    return this.#watched.get(instance)?.silentMs ?? null
  }

  #tick(): void {
    const { clock, metrics } = this.#options
    const nowMs = clock.steadyMs()
    // A process that was paused, or is busy, has not listened.
    const passedMs = Math.min(nowMs - this.#tickedAtMs, 2 * tickMs)
    this.#tickedAtMs = nowMs
    const all = [...this.#watched.values()]
    for (const watched of all) this.#judge(watched, passedMs)
    metrics.peersHeard.set(all.filter(({ silentMs = silentMsMax }) => silentMs < silentMsMax).length)
    if (nowMs - this.#readAtMs >= membersMs && !this.#isReading) void this.#read()
    this.#cancelTick = clock.at(clock.nowMs() + tickMs, () => this.#tick())
  }

  #judge(watched: Watched, passedMs: number): void {
    const { state } = watched
    if (watched.silentMs === undefined) return
    watched.silentMs += passedMs
    if (state === 'leaving' || this.#options.clock.steadyMs() < watched.judgedAgainAtMs) return
    if (state === 'gone' || watched.isRefusing) void this.#end(watched, 'refused')
    else if (watched.silentMs >= silentMsMax) void this.#end(watched, 'silent')
  }

  async #end(watched: Watched, reason: 'refused' | 'silent'): Promise<void> {
    const nowMs = this.#options.clock.steadyMs()
    // Each step below has a limit, and all of them together end before this.
    watched.judgedAgainAtMs = nowMs + 3 * answerMsMax
    const removedAtMs = this.#removedAtMs.get(watched.instance) ?? Number.NEGATIVE_INFINITY
    if (this.#isLeaving || nowMs - removedAtMs < removedMsMin) return
    if (reason === 'silent' && !(await this.#isWitnessed(watched))) return
    if (await this.#isMember(watched)) await this.#remove(watched, reason)
  }

  get #isLeaving(): boolean {
    return this.#isStopped || this.#options.isLeaving()
  }

  /** Whether the other watchers have not heard it either. Without others, the broker that answers next is the witness. */
  async #isWitnessed({ instance, others }: Watched): Promise<boolean> {
    if (others.length === 0) return true
    const { clock } = this.#options
    const heard = await Promise.all(others.map((other) => withTimeout(clock, answerMsMax, other.hears(instance))))
    const known = heard.filter((ms) => typeof ms === 'number')
    return known.length > 0 && known.every((ms) => ms >= silentMsMax - aliveHoldMs)
  }

  /** Whether the brokers answer, and show the same member as when it was watched. False also if it has been heard meanwhile. */
  async #isMember({ instance, memberIds, silentMs = 0 }: Watched): Promise<boolean> {
    const members = await withTimeout(this.#options.clock, answerMsMax, this.#members())
    const isSilent = (this.#watched.get(instance)?.silentMs ?? 0) >= silentMs
    return isSilent && members !== undefined && idsOf(members, instance) === memberIds
  }

  async #remove(watched: Watched, reason: 'refused' | 'silent'): Promise<void> {
    const { remove, metrics, logger, clock } = this.#options
    const { instance } = watched
    this.#removedAtMs.set(instance, clock.steadyMs())
    try {
      const members = await remove(instance)
      if (members === 0) return
      metrics.peersRemoved.inc({ reason })
      const how = reason === 'refused' ? 'refuses connections' : `has been silent for ${silentMsMax / 1_000} s`
      const facts = { event: 'peer-removed' as const, peer: instance, reason, members }
      logger.warn(facts, `${instance} ${how}. Its members were removed from their groups, so that others take over.`)
    } catch (error) {
      // Its other watcher may have been faster.
      if (!(await this.#isMember(watched))) return
      const facts = { event: 'peer-not-removed' as const, peer: instance, err: error }
      logger.warn(facts, `${instance} is dead, but could not be removed from its groups. They wait until its session ends.`)
    }
  }

  async #members(): Promise<GroupMember[]> {
    return (await Promise.all(this.#options.groups.map((groupId) => this.#options.members(groupId)))).flat()
  }

  /** Reads who is in the groups, and watches the next two in each. */
  async #read(): Promise<void> {
    this.#isReading = true
    const { groups, instance, members, clock } = this.#options
    const found = await withTimeout(clock, readMsMax, Promise.all(groups.map(members)))
    this.#readAtMs = clock.steadyMs()
    this.#isReading = false
    // Without an answer of the brokers, what is watched stays.
    if (found === undefined || this.#isStopped) return
    const next = new Set(found.flatMap((group) => ringOf(group).next(instance, watchedEach)))
    const before = this.#watched
    this.#watched = new Map()
    for (const name of next) this.#watch(name, found, before.get(name))
  }

  #watch(instance: string, groups: readonly GroupMember[][], before: Watched | undefined): void {
    const { urlOf, hasFront, remote } = this.#options
    const all = groups.flat()
    const peerOf = (name: string): Peer[] => {
      const url = all.flatMap((member) => (member.instance === name ? (urlOf(member.userData) ?? []) : []))[0]
      return url === undefined ? [] : [remote(url)]
    }
    const [peer] = peerOf(instance)
    // While a group changes, brokers show its members without their data.
    if (peer === undefined) return void (before && this.#watched.set(instance, before))
    const watchers = groups.flatMap((group) => ringOf(group).before(instance, watchedEach))
    const others = [...new Set(watchers)].filter((name) => name !== this.#options.instance).flatMap(peerOf)
    const note = all.find((member) => member.instance === instance)?.userData
    const seen = { memberIds: idsOf(all, instance), others, hasFront: hasFront(note) }
    if (before !== undefined) return void this.#watched.set(instance, Object.assign(before, seen))
    const nothing = {
      state: 'alive' as const,
      silentMs: undefined,
      refusedSinceMs: undefined,
      isRefusing: false,
      judgedAgainAtMs: 0,
    }
    const watched: Watched = { instance, peer, ...seen, ...nothing }
    this.#watched.set(instance, watched)
    void this.#listen(watched)
  }

  /** Until it is watched no longer. */
  async #listen(watched: Watched): Promise<void> {
    while (!this.#isStopped && this.#watched.get(watched.instance) === watched) {
      try {
        watched.state = await watched.peer.alive()
        Object.assign(watched, { silentMs: 0, refusedSinceMs: undefined, isRefusing: false })
        if (watched.state !== 'alive') await this.#wait(againMs)
      } catch (error) {
        if (isRefused(error)) this.#refused(watched)
        await this.#wait(againMs)
      }
    }
  }

  #refused(watched: Watched): void {
    const nowMs = this.#options.clock.steadyMs()
    watched.refusedSinceMs ??= nowMs
    watched.isRefusing = nowMs - watched.refusedSinceMs >= (watched.hasFront ? frontRefusedMsMax : 0)
  }

  /** Ends early at the stop. */
  #wait(ms: number): Promise<void> {
    const { clock } = this.#options
    return new Promise((resolve) => {
      const end = (): void => {
        cancel()
        this.#holds.delete(end)
        resolve()
      }
      const cancel = clock.at(clock.nowMs() + ms, end)
      this.#holds.add(end)
    })
  }
}

const idsOf = (members: readonly GroupMember[], instance: string): string =>
  members
    .flatMap((member) => (member.instance === instance ? member.memberId : []))
    .sort()
    .join(' ')

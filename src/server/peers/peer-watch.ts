/**
 * Notices the death of another process before its session in the group ends (ADR 0143). The members of a group form a ring, in the order of
 * their names. Each process watches the two after it (watched-peer.ts).
 *
 *   refused ──────────────────────────────────────────────────────────────► dead
 *   silent ──the other watcher has not heard it either; of two members, a broker answers──► dead
 *   deaf, while brokers answer this process ────────────────────────────────► dead
 *   dead, and still the member that was watched ──► its members are removed from the groups of its roles
 *
 * Nothing here fences anybody: a process that is removed by mistake joins again, and until then the fence of the next owner decides who
 * fires. Without an answer of anybody the session decides, as it does for members that have no URL.
 */
import { type Clock, waitFor } from '../../ground/clock/index.ts'
import { BoundedMap, withTimeout } from '../../ground/concurrency/index.ts'
import type { Logger } from '../../ground/logging/index.ts'
import type { Metrics } from '../../ground/metrics/index.ts'
import type { GroupMember } from '../../ground/ports/index.ts'
import { aliveHoldMs } from './limits.ts'
import { ringOf } from './ring.ts'
import { type Peer, type PeerState, silentMsMax, WatchedPeer } from './watched-peer.ts'

export interface PeerWatchOptions {
  /** Groups of which this process is a member. */
  groups: readonly string[]
  /** name@host:pid:boot of this process. */
  instance: string
  members: (groupId: string) => Promise<GroupMember[]>
  remote: (url: string) => Peer
  /** The URL of a member that may be called, from its user data. It must not throw. */
  urlOf: (userData: unknown) => string | undefined
  /** Whether that URL is the one of a front, which can end without its engine. */
  hasFront: (userData: unknown) => boolean
  /** Whether this process is about to leave its groups. It says so, and removes nobody. */
  isLeaving: () => boolean
  /** When a broker last sent anything to this process, by any clock: whether it moves is all that counts. */
  brokersHeardAtMs: () => number
  /** Removes the members of an instance from all groups. Resolves with their number. */
  remove: (instance: string) => Promise<number>
  clock: Clock
  metrics: Pick<Metrics, 'peersHeard' | 'peersRemoved'>
  logger: Logger
}

export const tickMs = 100
/** How often the members of the groups are read. */
const membersMs = 2_000
const readMsMax = 5_000
const answerMsMax = 1_000
/** An instance is removed at most once in this time. */
export const removedMsMin = 30_000
const watchedEach = 2
/** Without anything from a broker for this time a process says that it is deaf. A member that others watch hears one each second, or more often. */
export const brokersSilentMsMax = 2_000
const removedMax = 1_000

type Death = 'refused' | 'silent' | 'deaf'

const symptoms: Record<Death, string> = {
  refused: 'refuses connections',
  silent: `has been silent for ${silentMsMax / 1_000} s`,
  deaf: 'is not answered by any broker',
}

/** A group as it was read. Undefined: the brokers did not answer in time. */
type Groups = GroupMember[][] | undefined

export class PeerWatch {
  readonly #options: PeerWatchOptions
  #watched = new Map<string, WatchedPeer>()
  readonly #removedAtMs = new BoundedMap<string, number>(removedMax)
  readonly #ending = new AbortController()
  #tickedAtMs = 0
  #brokersHeardAtMs = 0
  #brokersSilentMs = 0
  #readAtMs = Number.NEGATIVE_INFINITY
  #isReading = false
  #cancelTick = (): void => {}

  constructor(options: PeerWatchOptions) {
    this.#options = options
  }

  start(): void {
    this.#tickedAtMs = this.#options.clock.steadyMs()
    this.#tick()
  }

  readonly stop = async (): Promise<void> => {
    this.#ending.abort()
    this.#cancelTick()
    for (const watched of this.#watched.values()) watched.end()
  }

  /** For the process that watches this one. */
  async alive(): Promise<PeerState> {
    if (!this.#isLeaving) await waitFor(aliveHoldMs, this.#options.clock, this.#ending.signal).catch(() => undefined)
    if (this.#isLeaving) return 'leaving'
    return this.#hearsBrokers ? 'alive' : 'deaf'
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
    this.#listenToBrokers(passedMs)
    let heard = 0
    for (const watched of this.#watched.values()) {
      watched.passed(passedMs, { hearsBrokers: this.#hearsBrokers })
      const { condition } = watched
      if (condition === 'heard' || condition === 'leaving') heard++
      const isDead = condition === 'refused' || condition === 'silent' || condition === 'deaf'
      if (isDead && nowMs >= watched.judgedAgainAtMs) void this.#judge(watched, condition, nowMs)
    }
    metrics.peersHeard.set(heard)
    if (nowMs - this.#readAtMs >= membersMs && !this.#isReading) void this.#look()
    this.#cancelTick = clock.at(clock.nowMs() + tickMs, () => this.#tick())
  }

  #listenToBrokers(passedMs: number): void {
    const heardAtMs = this.#options.brokersHeardAtMs()
    this.#brokersSilentMs = heardAtMs === this.#brokersHeardAtMs ? this.#brokersSilentMs + passedMs : 0
    this.#brokersHeardAtMs = heardAtMs
  }

  get #hearsBrokers(): boolean {
    return this.#brokersSilentMs < brokersSilentMsMax
  }

  async #judge(watched: WatchedPeer, condition: Death, nowMs: number): Promise<void> {
    const { instance } = watched.seen
    const { silentMs = 0 } = watched
    // Each step below has a limit, and they end before this.
    watched.judgedAgainAtMs = nowMs + 3 * answerMsMax
    if (nowMs - (this.#removedAtMs.get(instance) ?? Number.NEGATIVE_INFINITY) < removedMsMin) return
    if (condition === 'silent' && !(await this.#isWitnessed(watched))) return
    const isMember = await this.#isMember(watched)
    // It may have been heard meanwhile, and this process may have begun to leave.
    if (this.#isLeaving || watched.condition === 'leaving') return
    // One that is deaf is heard all the time.
    if (condition === 'deaf' ? watched.condition !== 'deaf' : (watched.silentMs ?? 0) < silentMs) return
    // Its other watcher has removed it.
    if (isMember === false) this.#removedAtMs.set(instance, nowMs)
    if (isMember === true) await this.#remove(watched, condition)
  }

  get #isLeaving(): boolean {
    return this.#ending.signal.aborted || this.#options.isLeaving()
  }

  /** Whether the other watchers have not heard it either. Of two members, the broker that answers next is the witness. */
  async #isWitnessed({ seen: { instance }, others, isAlone }: WatchedPeer): Promise<boolean> {
    const { clock } = this.#options
    const heard = await Promise.all(others.map((other) => withTimeout(clock, answerMsMax, other.hears(instance))))
    const known = heard.filter((ms) => typeof ms === 'number')
    return isAlone || (known.length > 0 && known.every((ms) => ms >= silentMsMax - aliveHoldMs))
  }

  /** Whether it is still the member that was watched. Undefined: no broker says so. */
  async #isMember({ seen: { instance, memberIds } }: WatchedPeer): Promise<boolean | undefined> {
    const groups = await this.#read(answerMsMax)
    return groups && idsOf(groups.flat(), instance) === memberIds
  }

  async #remove(watched: WatchedPeer, reason: Death): Promise<void> {
    const { remove, metrics, logger, clock } = this.#options
    const { instance } = watched.seen
    this.#removedAtMs.set(instance, clock.steadyMs())
    try {
      const members = await remove(instance)
      if (members === 0) return
      metrics.peersRemoved.inc({ reason })
      const facts = { event: 'peer-removed' as const, peer: instance, reason, members }
      logger.warn(facts, `${instance} ${symptoms[reason]}. Its members were removed from their groups, so that others take over.`)
    } catch (error) {
      // Its other watcher may have been faster.
      if ((await this.#isMember(watched)) === false) return
      this.#removedAtMs.delete(instance)
      const facts = { event: 'peer-not-removed' as const, peer: instance, err: error }
      logger.warn(facts, `${instance} is dead, but could not be removed from its groups. They wait until its session ends.`)
    }
  }

  #read(limitMs: number): Promise<Groups> {
    const { groups, members, clock } = this.#options
    return withTimeout(clock, limitMs, Promise.all(groups.map(members)))
  }

  /** Watches the next two in each group. Members without a URL are neither watched nor watchers. */
  async #look(): Promise<void> {
    const { instance, clock, urlOf } = this.#options
    this.#isReading = true
    const groups = await this.#read(readMsMax)
    this.#readAtMs = clock.steadyMs()
    this.#isReading = false
    // Without an answer, and while a group shows its members without their data, what is watched stays.
    if (this.#ending.signal.aborted || groups === undefined || groups.flat().some(({ isJoining }) => isJoining)) return
    const known = groups.map((group) =>
      group.filter((member) => member.instance === instance || urlOf(member.userData) !== undefined),
    )
    const next = new Set(known.flatMap((group) => ringOf(group).next(instance, watchedEach)))
    const before = this.#watched
    this.#watched = new Map([...next].flatMap((name) => this.#watchedOf(name, groups, known, before.get(name))))
    for (const [name, watched] of before) if (this.#watched.get(name) !== watched) watched.end()
  }

  /** A member that has joined again, or has another address, is one that was never heard. */
  #watchedOf(
    name: string,
    groups: readonly GroupMember[][],
    known: readonly GroupMember[][],
    before: WatchedPeer | undefined,
  ): [string, WatchedPeer][] {
    const { instance, hasFront, remote, clock } = this.#options
    const urls = this.#urlsOf(name, known)
    const [url] = urls
    // Two members that call themselves the same are not one process.
    if (url === undefined || urls.length > 1) return []
    const notes = known.flat().flatMap((member) => (member.instance === name ? [member.userData] : []))
    const seen = { instance: name, url, memberIds: idsOf(groups.flat(), name), hasFront: notes.some(hasFront) }
    const isSame = before?.seen.memberIds === seen.memberIds && before.seen.url === url
    const watched = isSame ? before : new WatchedPeer(seen, remote(url), clock)
    const watchers = new Set(known.flatMap((group) => ringOf(group).before(name, watchedEach)))
    watchers.delete(instance)
    watched.others = [...watchers].flatMap((watcher) => this.#urlsOf(watcher, known).slice(0, 1).map(remote))
    watched.isAlone = groups.every(
      (group) => !hasInstance(group, name) || new Set(group.map((member) => member.instance)).size <= 2,
    )
    return [[name, watched]]
  }

  #urlsOf(name: string, groups: readonly GroupMember[][]): string[] {
    const { urlOf } = this.#options
    const members = groups.flat().filter((member) => member.instance === name)
    return [...new Set(members.flatMap((member) => urlOf(member.userData) ?? []))]
  }
}

const hasInstance = (members: readonly GroupMember[], instance: string): boolean =>
  members.some((member) => member.instance === instance)

const idsOf = (members: readonly GroupMember[], instance: string): string =>
  members
    .flatMap((member) => (member.instance === instance ? member.memberId : []))
    .sort()
    .join(' ')

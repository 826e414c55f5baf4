/**
 * Who owns which partition, and queries to owners. Owners are the members of the scheduler group; each publishes the URL of its
 * process in its user data. The scheduler of this process is called directly, all others over HTTP (remote-queries.ts).
 */
import type { Clock } from '../../ground/clock/index.ts'
import { DuelogError } from '../../ground/errors/index.ts'
import type { JobQueries, LogAdmin, PartitionQueries, PartitionView } from '../../ground/ports/index.ts'
import { ownerProblem } from '../../ground/records/index.ts'
import { ownersMaxAgeMs, ownersRefreshGapMs } from './limits.ts'
import { shownUrl, strangerText } from './peer-note.ts'
import type { ProcessCounts } from './process-counts.ts'
import {
  isAway,
  type Member,
  type Owner,
  type RemoteOwner,
  type Staleness,
  StandbyReads,
  type StandbyView,
} from './standby-reads.ts'

export type { Owner, RemoteOwner } from './standby-reads.ts'

export interface PartitionOwnerView extends PartitionView {
  /** name@host:pid:boot; null if no member is assigned or it does not answer. */
  instance: string | null
  /** Null for this process, and if there is no owner. */
  url: string | null
}

export interface OwnerDirectory {
  /**
   * Sends a query to the owner of the partition; once more if the ownership moved in between. Rejects with `not-ready` if there
   * is no owner, or the owner is not active or does not answer.
   */
  ask<Answer>(partition: number, question: (owner: Owner) => Promise<Answer>): Promise<Answer>
  /** Like `ask`, but if the owner does not answer, the most current standby does. `stale` is null for an answer of the owner. */
  askAny<Answer>(
    partition: number,
    question: (jobs: JobQueries) => Promise<Answer>,
  ): Promise<{ answer: Answer; stale: Staleness | null }>
  /** Whether a standby is known that could answer. */
  hasCopy(partition: number): boolean
  /** The standbys of each partition, and their lag. */
  standbys(): Promise<Map<number, StandbyView[]>>
  /**
   * Why the owner of the partition decides nothing for now, with its name; undefined if it decides, if there is no owner, and
   * if it does not tell.
   */
  problem(partition: number): Promise<string | undefined>
  /** Every partition as its owner sees it; `closed` without an owner. */
  views(): Promise<PartitionOwnerView[]>
  /** The counts of owners in other processes; processes that do not answer are left out. */
  remoteCounts(): Promise<ProcessCounts[]>
}

export interface OwnerDirectoryOptions {
  admin: Pick<LogAdmin, 'groupMembers'>
  /** `<prefix>scheduler` */
  groupId: string
  /** The topic whose assignment gives the owner of a partition: `<prefix>job-commands`. */
  topic: string
  /** A topic that standbys read as well: `<prefix>jobs`. Absent: no standby is used. */
  followedTopic?: string
  partitions: number
  local?: PartitionQueries | undefined
  /** name@host:pid:boot of this process. */
  instance?: string
  remote: (url: string) => RemoteOwner
  /** The URL of a member that may be called, from its user data. Default: any URL that it publishes. */
  urlOf?: (userData: unknown) => string | undefined
  /** Called with the reason why an owner is not called or has refused to answer. Default: none. */
  onRefused?: (problem: string) => void
  clock: Clock
}

export function createOwnerDirectory(options: OwnerDirectoryOptions): OwnerDirectory {
  return new GroupOwnerDirectory(options)
}

class GroupOwnerDirectory implements OwnerDirectory {
  readonly #options: OwnerDirectoryOptions
  readonly #standbyReads: StandbyReads
  #members = new Map<number, Member>()
  /** Readers of each partition besides its owner. */
  #followers = new Map<number, Member[]>()
  /** Owners that may not be called. */
  #strangers = new Map<number, string>()
  #readAtMs = Number.NEGATIVE_INFINITY
  #stale = true
  #reading: Promise<void> | undefined

  constructor(options: OwnerDirectoryOptions) {
    this.#options = options
    this.#standbyReads = new StandbyReads(options)
  }

  async askAny<Answer>(
    partition: number,
    question: (jobs: JobQueries) => Promise<Answer>,
  ): Promise<{ answer: Answer; stale: Staleness | null }> {
    try {
      return { answer: await this.ask(partition, question), stale: null }
    } catch (error) {
      // Without brokers the owner is unknown; a local store can still be read.
      const brokersAway = error instanceof DuelogError && error.code === 'broker-unavailable'
      if (!isAway(error) && !(brokersAway && this.#standbyReads.isHere(partition))) throw error
      const owner = this.#members.get(partition)
      const followers = this.#followers.get(partition) ?? []
      const followed = this.#standbyReads.ask(partition, followers, question, error)
      // A restoring owner has a readable store too. It comes last: a silent owner would keep the others waiting.
      if (owner === undefined) return await followed
      return await followed.catch((failure: unknown) => this.#standbyReads.ask(partition, [owner], question, failure))
    }
  }

  hasCopy(partition: number): boolean {
    return this.#followers.has(partition) || this.#standbyReads.isHere(partition)
  }

  async standbys(): Promise<Map<number, StandbyView[]>> {
    await this.#refresh()
    return await this.#standbyReads.standbys([...this.#followers.values()].flat())
  }

  async ask<Answer>(partition: number, question: (owner: Owner) => Promise<Answer>): Promise<Answer> {
    const first = await this.#ownerOf(partition)
    try {
      return await question(first.owner)
    } catch (error) {
      if (!isAway(error)) throw error
      if (error instanceof DuelogError && error.code === 'peer-refused') this.#options.onRefused?.(error.message)
      this.#stale = true
      const second = await this.#ownerOf(partition)
      // The same owner would answer the same again: the caller should retry later.
      if (second.name === first.name) throw error
      return await question(second.owner)
    }
  }

  async views(): Promise<PartitionOwnerView[]> {
    const views = Array.from({ length: this.#options.partitions }, (_, partition) => noOwner(partition))
    const offer = (view: PartitionOwnerView): void => {
      if (view.role === 'standby' && view.phase !== 'active') return
      const known = views[view.partition]
      if (known === undefined || worthOf(view) > worthOf(known)) views[view.partition] = view
    }
    const { local, instance = null } = this.#options
    for (const view of local?.partitions() ?? []) offer({ ...view, instance, url: null })
    if (views.some((view) => !isOwned(view))) await this.#offerRemote(offer)
    return views
  }

  async problem(partition: number): Promise<string | undefined> {
    const { local, remote, instance } = this.#options
    const of = (views: readonly PartitionView[]) => views.find((view) => view.partition === partition && isOwned(view))
    const here = of(local?.partitions() ?? [])
    if (here !== undefined) return ownerProblem(instance, here.problem)
    await this.#refresh()
    const member = this.#members.get(partition)
    return member === undefined ? undefined : ownerProblem(member.instance, of(await remote(member.url).partitions())?.problem)
  }

  async remoteCounts(): Promise<ProcessCounts[]> {
    const { local, partitions, remote } = this.#options
    // If all partitions are owned here, no other process is called.
    if (local?.partitions().filter(isOwned).length === partitions) return []
    await this.#refresh()
    const urls = new Set([...this.#members.values()].map(({ url }) => url))
    const answers = await Promise.allSettled([...urls].map((url) => remote(url).counts()))
    return answers.flatMap((answer) => (answer.status === 'fulfilled' ? [answer.value] : []))
  }

  async #offerRemote(offer: (view: PartitionOwnerView) => void): Promise<void> {
    await this.#refresh()
    const members = new Map([...this.#members.values()].map((member) => [member.url, member]))
    await Promise.all(
      [...members.values()].map(async ({ url, instance }) => {
        try {
          for (const view of await this.#options.remote(url).partitions()) offer({ ...view, instance, url })
        } catch (error) {
          // A process that does not answer shows as closed partitions; the others still show.
          if (!isAway(error)) throw error
          this.#stale = true
        }
      }),
    )
  }

  async #ownerOf(partition: number): Promise<{ name: string; owner: Owner }> {
    const { local, remote } = this.#options
    const here = local?.partitions().find((view) => view.partition === partition)
    if (local !== undefined && here !== undefined && isOwned(here)) return { name: 'local', owner: local }
    await this.#refresh()
    const member = this.#members.get(partition)
    if (member !== undefined) return { name: member.url, owner: remote(member.url) }
    this.#stale = true
    const stranger = this.#strangers.get(partition)
    if (stranger !== undefined) throw new DuelogError('peer-refused', strangerText(partition, stranger))
    throw new DuelogError(
      'not-ready',
      `Partition ${partition} has no owner that answers requests at the moment; ask again later.`,
    )
  }

  /** Reads the group if the map is too old or wrong; all callers share one read. */
  async #refresh(): Promise<void> {
    const ageMs = this.#options.clock.nowMs() - this.#readAtMs
    const due = this.#stale ? ownersRefreshGapMs : ownersMaxAgeMs
    // A clock that was set back must not keep an old map alive.
    if (ageMs >= 0 && ageMs < due) return
    this.#reading ??= this.#read().finally(() => {
      this.#reading = undefined
    })
    await this.#reading
  }

  async #read(): Promise<void> {
    const { admin, groupId, topic, followedTopic, clock, urlOf = shownUrl, onRefused } = this.#options
    const found = await admin.groupMembers(groupId)
    const members = new Map<number, Member>()
    const readers: [number, Member][] = []
    const strangers = new Map<number, string>()
    for (const { instance, userData, assigned } of found) {
      const url = urlOf(userData)
      if (url === undefined) {
        if (shownUrl(userData) === undefined) continue
        for (const place of assigned) if (place.topic === topic) strangers.set(place.partition, instance.slice(0, 255))
        continue
      }
      for (const place of assigned) {
        if (place.topic === topic) members.set(place.partition, { instance, url })
        if (place.topic === followedTopic) readers.push([place.partition, { instance, url }])
      }
    }
    this.#members = members
    this.#strangers = strangers
    for (const [partition, instance] of strangers) onRefused?.(strangerText(partition, instance))
    // During a rebalance the group shows no readers, and standbys are needed most then.
    if (readers.length > 0) this.#followers = followersOf(readers, members)
    this.#readAtMs = clock.nowMs()
    this.#stale = false
  }
}

/** Readers of each partition besides its owner. */
function followersOf(readers: readonly [number, Member][], owners: ReadonlyMap<number, Member>): Map<number, Member[]> {
  const followers = new Map<number, Member[]>()
  for (const [partition, member] of readers) {
    if (owners.get(partition)?.url === member.url) continue
    followers.set(partition, [...(followers.get(partition) ?? []), member])
  }
  return followers
}

/** A process that still fires may have lost the partition in between. */
const isOwned = ({ phase, isCurrent = true }: PartitionView): boolean => phase === 'active' && isCurrent

/** Rank of phases: of two views of a partition the higher one tells more. */
const worth = { closed: 0, following: 0, restoring: 1, claiming: 2, active: 3 } as const
const worthOf = (view: PartitionView): number => (view.phase === 'active' && !isOwned(view) ? 2.5 : worth[view.phase])

function noOwner(partition: number): PartitionOwnerView {
  const nothing = { restoreRemaining: 0, restoreTotal: 0, mailboxDepth: 0, overdueMs: 0 }
  const underWay = { dispatched: 0, running: 0, waiting: 0, withoutHandler: 0, inPausedPools: 0 }
  const offsets = { jobsOffset: 0, commandsOffset: 0, eventsOffset: 0 }
  return { partition, phase: 'closed', ...nothing, ...offsets, underWay, instance: null, url: null }
}

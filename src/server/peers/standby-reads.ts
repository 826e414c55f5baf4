/** Stores that can be read while the owner does not answer: those of standbys, and of an owner that restores. */
import type { Clock } from '../../ground/clock/index.ts'
import { DuelogError } from '../../ground/errors/index.ts'
import type { JobQueries, PartitionQueries, PartitionView } from '../../ground/ports/index.ts'
import { standbysMaxAgeMs } from './limits.ts'
import type { ProcessCounts } from './process-counts.ts'

/** Queries that an owner answers about one of its partitions. */
export type Owner = Omit<PartitionQueries, 'partitions'>
/** Another process, called over HTTP. */
export type RemoteOwner = Owner & { partitions(): Promise<PartitionView[]>; counts(): Promise<ProcessCounts> }

/** A member of the scheduler group, with its published URL. */
export interface Member {
  instance: string
  url: string
}

/** The possible staleness of an answer. */
export interface Staleness {
  partition: number
  /** Records that the store lacked, as far as its process knew. Null: an owner that may have been replaced. */
  behindRecords: number | null
}

export interface StandbyView {
  /** name@host:pid:boot; null if unknown. */
  instance: string | null
  /** Null for this process. */
  url: string | null
  phase: PartitionView['phase']
  /** Null while it has no readable store. */
  behindRecords: number | null
  /** Version of its time zone rules; null if it does not report it. */
  zoneRules: string | null
}

export interface StandbyReadsOptions {
  local?: PartitionQueries | undefined
  /** name@host:pid:boot of this process. */
  instance?: string
  remote: (url: string) => RemoteOwner
  clock: Clock
}

export class StandbyReads {
  readonly #options: StandbyReadsOptions
  /** Views of other processes' partitions, by URL. Processes that did not answer are left out at the next read. */
  readonly #known = new Map<string, { askedAtMs: number; views: Promise<PartitionView[]> }>()

  constructor(options: StandbyReadsOptions) {
    this.#options = options
  }

  /** The least stale answer. Rejects with `failure` if no process has a readable store. */
  async ask<Answer>(
    partition: number,
    members: readonly Member[],
    question: (jobs: JobQueries) => Promise<Answer>,
    failure: unknown,
  ): Promise<{ answer: Answer; stale: Staleness }> {
    const { local, remote } = this.#options
    const views = await this.#views(members)
    const sources = views
      .flatMap(({ url, view }) => {
        const behind = view.partition === partition ? view.behindRecords : null
        const jobs = url === null ? local?.standbyReads : remote(url).standbyReads
        // An owner that may have been replaced knows nothing of its successor's work.
        const known = view.isCurrent === false ? Number.POSITIVE_INFINITY : behind
        return typeof behind === 'number' && known != null && jobs !== undefined ? [{ jobs, behind: known }] : []
      })
      .sort((a, b) => (a.behind < b.behind ? -1 : Number(a.behind > b.behind)))
    for (const { jobs, behind } of sources) {
      try {
        return { answer: await question(jobs), stale: { partition, behindRecords: Number.isFinite(behind) ? behind : null } }
      } catch (error) {
        if (!isAway(error)) throw error
      }
    }
    throw failure
  }

  /** The standbys of each partition. */
  async standbys(members: readonly Member[]): Promise<Map<number, StandbyView[]>> {
    const standbys = new Map<number, StandbyView[]>()
    for (const { url, instance, view } of await this.#views(members)) {
      const { partition, role, phase, behindRecords = null, zoneRules = null } = view
      if (role !== 'standby' || phase === 'active') continue
      standbys.set(partition, [...(standbys.get(partition) ?? []), { instance, url, phase, behindRecords, zoneRules }])
    }
    return standbys
  }

  /** Whether this process has a readable store of the partition. */
  isHere(partition: number): boolean {
    const views = this.#options.local?.partitions() ?? []
    return views.some((view) => view.partition === partition && typeof view.behindRecords === 'number')
  }

  async #views(members: readonly Member[]): Promise<{ url: string | null; instance: string | null; view: PartitionView }[]> {
    const { local, instance = null, clock } = this.#options
    const nowMs = clock.nowMs()
    for (const [url, { askedAtMs }] of this.#known) {
      if (Math.abs(nowMs - askedAtMs) >= standbysMaxAgeMs) this.#known.delete(url)
    }
    const others = new Map(members.filter((member) => member.instance !== instance).map((member) => [member.url, member]))
    const remote = await Promise.all([...others.values()].map(async (member) => ({ member, views: await this.#of(member.url) })))
    return [
      ...(local?.partitions() ?? []).map((view) => ({ url: null, instance, view })),
      ...remote.flatMap(({ member, views }) => views.map((view) => ({ url: member.url, instance: member.instance, view }))),
    ]
  }

  /** The views of a process; none if it does not answer. */
  #of(url: string): Promise<PartitionView[]> {
    const known = this.#known.get(url)
    if (known !== undefined) return known.views
    const views = this.#options.remote(url).partitions()
    const safe = views.catch((error: unknown) => {
      if (isAway(error)) return []
      throw error
    })
    safe.catch(() => this.#known.delete(url))
    this.#known.set(url, { askedAtMs: this.#options.clock.nowMs(), views: safe })
    return safe
  }
}

export function isAway(error: unknown): boolean {
  return error instanceof DuelogError && ['not-ready', 'fenced', 'peer-refused'].includes(error.code)
}

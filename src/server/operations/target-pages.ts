/** The jobs and dead runs of an operation in one partition, page by page, from the owner of the partition. */
import type { OperationRequest } from '../../../schemas/index.ts'
import { partitionOf } from '../../../streams/topics/index.ts'
import type {
  AnnounceQuery,
  Asker,
  BulkAction,
  ChangeQuery,
  CutOff,
  JobAction,
  JobFilter,
  OperationAction,
  Target,
  TargetQuery,
} from '../../ground/ports/index.ts'
import { bulkActions, commandIdOf, commandPrefixOf, isImmediate } from '../../ground/records/index.ts'
import type { Ask, AskedOwner } from './options.ts'
import { TriggerPayload } from './page-changes.ts'

/** Jobs of one page. The owner applies their commands in a few commit cycles. */
const pageJobs = 2_000
/** Ids and characters of percent-encoded ids in one question, which is a URL between processes. */
const askedIdsMax = 100
const askedCharsMax = 6_000

export interface Page {
  targets: Target[]
  /** Number of jobs or dead runs. */
  count: number
  /** Where the next page begins; undefined at the end. */
  next: string | undefined
}

/** What an operation chooses, prepared for questions to owners. */
export class Selection {
  readonly action: OperationAction
  readonly commandPrefix: string
  /** Of the runs that it makes. Undefined: each job has its own. */
  readonly payload: TriggerPayload | undefined
  readonly #filter: JobFilter
  /** Ids by partition, in the order of their bytes. */
  readonly #ids: Map<number, string[]> | undefined
  /** Numbers of the chosen runs by job. */
  readonly #runs: Map<string, Set<number>> | undefined

  constructor(id: string, request: OperationRequest, partitions: number) {
    const { payload, payloadIsJson } = request
    this.action = request.action as OperationAction
    this.payload = this.action === 'TRIGGER' && payload !== null ? new TriggerPayload(payload, payloadIsJson) : undefined
    this.commandPrefix = commandPrefixOf(id)
    this.#filter = filterOf(request)
    this.#runs = request.runIds === null ? undefined : runsByJob(request.runIds)
    const ids = request.jobIds ?? (this.#runs && [...this.#runs.keys()])
    this.#ids = ids === undefined ? undefined : idsByPartition(ids, partitions)
  }

  /** Whether the owners change the jobs themselves. For a short list commands are as good, and they carry a payload (ADR 0104). */
  get isBulk(): boolean {
    return this.#ids === undefined && this.payload === undefined && (bulkActions as readonly string[]).includes(this.action)
  }

  /** Whether it holds for all its jobs as soon as the owners know of it. */
  get isImmediate(): boolean {
    return (this.isBulk || this.#isDeletion) && isImmediate(this.action, this.#filter)
  }

  /** Whether the owners are told of it. */
  get isAnnounced(): boolean {
    return this.isBulk || this.isImmediate
  }

  /** Whether owners delete the jobs that come up before their tombstones are written. */
  get deletesAhead(): boolean {
    return this.#isDeletion && this.isImmediate
  }

  get #isDeletion(): boolean {
    return this.#ids === undefined && this.action === 'DELETE'
  }

  /** The same for each partition. */
  get change(): Pick<ChangeQuery, 'action' | 'filter' | 'commandId'> {
    return { ...this.announced, action: this.action as BulkAction }
  }

  get announced(): Pick<AnnounceQuery, 'action' | 'filter' | 'commandId'> {
    return { action: this.action as JobAction, filter: this.#filter, commandId: commandIdOf(this) }
  }

  async cutOff(owner: AskedOwner, partition: number, asker?: Asker): Promise<CutOff> {
    return (await owner.targets(partition, { ...this.#query(), limit: 0 }, asker)).cutOff
  }

  /** Number of jobs or dead runs in a partition. */
  async count(ask: Ask, partition: number, cutOff: CutOff, asker?: Asker): Promise<number> {
    let count = 0
    let after: string | undefined
    do {
      asker?.signal?.throwIfAborted()
      if (this.#ids === undefined) {
        const query = { ...this.#query(), cutOff, limit: pageJobs, countOnly: true, ...(after !== undefined && { after }) }
        const found = await ask((owner) => owner.targets(partition, query, asker))
        count += found.count
        after = found.next
      } else {
        const page = await this.page(ask, partition, { cutOff, after, until: undefined }, asker)
        count += page.count
        after = page.next
      }
    } while (after !== undefined)
    return count
  }

  async page(
    ask: Ask,
    partition: number,
    { cutOff, after, until }: { cutOff: CutOff; after: string | undefined; until: string | undefined },
    asker?: Asker,
  ): Promise<Page> {
    const place = { cutOff, limit: pageJobs, ...(after !== undefined && { after }), ...(until !== undefined && { until }) }
    if (this.#ids === undefined) {
      const { targets, count, next } = await ask((owner) => owner.targets(partition, { ...this.#query(), ...place }, asker))
      return { targets, count, next }
    }
    const ids = this.#idsAfter(partition, after)
    if (ids.length === 0) return { targets: [], count: 0, next: undefined }
    const found = await ask((owner) => owner.targets(partition, { ...this.#query(), ...place, ids }, asker))
    const targets = found.targets.map((target) => this.#chosen(target)).filter((target) => target !== undefined)
    const count = targets.reduce((sum, { runs }) => sum + (runs?.length ?? 1), 0)
    const last = ids.at(-1)
    const isEnd = last === undefined || last === this.#ids.get(partition)?.at(-1)
    // An owner that has read many dead runs stops before the last id.
    return { targets, count, next: found.next ?? (isEnd ? undefined : last) }
  }

  #query(): Pick<TargetQuery, 'action' | 'commandPrefix' | 'filter'> {
    const { action, commandPrefix } = this
    return { action, commandPrefix, filter: this.#filter }
  }

  /** As many as fit in one question. */
  #idsAfter(partition: number, after: string | undefined): string[] {
    const ids: string[] = []
    let chars = 0
    const all = this.#ids?.get(partition) ?? []
    // A page ends with one of the ids.
    for (const id of all.slice(after === undefined ? 0 : all.indexOf(after) + 1)) {
      chars += encodeURIComponent(JSON.stringify(id)).length + 3
      if (ids.length > 0 && (ids.length >= askedIdsMax || chars > askedCharsMax)) break
      ids.push(id)
    }
    return ids
  }

  #chosen(target: Target): Target | undefined {
    const wanted = this.#runs?.get(target.id)
    if (wanted === undefined) return target
    const runs = target.runs?.filter((runNo) => wanted.has(runNo)) ?? []
    return runs.length === 0 ? undefined : { ...target, runs }
  }
}

function filterOf({ tag, handler, status, idPrefix, idContains, runStatus, ...ends }: OperationRequest): JobFilter {
  const { diedFrom, diedTo, errorType, errorKind } = ends
  return {
    ...(diedFrom !== null && { diedFrom }),
    ...(diedTo !== null && { diedTo }),
    ...(errorType !== null && { errorType }),
    ...(errorKind !== null && { errorKind }),
    ...(tag !== null && { tag }),
    ...(handler !== null && { handler }),
    ...(status !== null && { status: status as NonNullable<JobFilter['status']> }),
    ...(idPrefix !== null && { idPrefix }),
    ...(idContains !== null && { idContains }),
    ...(runStatus !== null && { runStatus: runStatus as NonNullable<JobFilter['runStatus']> }),
  }
}

function runsByJob(runIds: readonly string[]): Map<string, Set<number>> {
  const runs = new Map<string, Set<number>>()
  for (const runId of runIds) {
    const at = runId.lastIndexOf('/')
    const jobId = runId.slice(0, at)
    const known = runs.get(jobId)
    if (known === undefined) runs.set(jobId, new Set([Number(runId.slice(at + 1))]))
    else known.add(Number(runId.slice(at + 1)))
  }
  return runs
}

function idsByPartition(ids: readonly string[], partitions: number): Map<number, string[]> {
  const byPartition = new Map<number, string[]>()
  for (const id of [...new Set(ids)].sort(byBytes)) {
    const partition = partitionOf(id, partitions)
    const known = byPartition.get(partition)
    if (known === undefined) byPartition.set(partition, [id])
    else known.push(id)
  }
  return byPartition
}

/** The order of ids in a store. */
const byBytes = (left: string, right: string): number => Buffer.compare(Buffer.from(left), Buffer.from(right))

/** Runs for which a job has no room are left for another round. */
export function withRoom({ targets, next }: Page): Pick<Page, 'targets' | 'next'> & { changes: number; left: number } {
  let [changes, left] = [0, 0]
  const fitting = targets.flatMap((target) => {
    const { runs, room = Number.POSITIVE_INFINITY } = target
    if (runs === undefined) {
      changes++
      return [target]
    }
    const some = runs.slice(0, room)
    changes += some.length
    left += runs.length - some.length
    return some.length === 0 ? [] : [{ ...target, runs: some }]
  })
  return { targets: fitting, next, changes, left }
}

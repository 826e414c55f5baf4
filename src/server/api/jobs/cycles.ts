/** Warnings that a definition alone does not show: cycles of follow-up jobs, a target that is not there, a job that has already run. */
import type { JobDefinition } from '../../../../schemas/index.ts'
import { chainDepthMax, chainRunsMax } from '../../../../streams/runs/index.ts'
import { isoTime, quoted } from '../../../../streams/text/index.ts'
import { partitionOf, type TopicNames, topicsOfPool } from '../../../../streams/topics/index.ts'
import type { JobView } from '../../../ground/ports/index.ts'
import type { OwnerDirectory } from '../../peers/index.ts'
import { cycleAskedMax } from '../schemas/index.ts'

/**
 * Jobs that trigger each other (`onSuccess`, `onFailure`): cycles, found by a bounded search, and followers that do not exist. Each chain
 * ends by itself (ADR 0036); this names the jobs of the cycle to its author, and to users who ask why a chain ended.
 */

export type Follows = Pick<JobDefinition, 'onSuccess' | 'onFailure'>

/** `path` begins and ends with the requested job. `complete`: nothing was left out of the search. */
export interface ChainCycle {
  path: string[] | undefined
  complete: boolean
}

export class ChainCycles {
  readonly #ask: (id: string) => Promise<Follows | undefined>
  #left: number
  readonly #known = new Map<string, Promise<string[] | undefined>>()
  readonly #missing = new Set<string>()

  /** `ask`: undefined if there is no such job. `jobsMax`: maximum number of jobs that are read. */
  constructor(ask: (id: string) => Promise<Follows | undefined>, jobsMax: number) {
    this.#ask = ask
    this.#left = jobsMax
  }

  /** The followers to use for a job instead of those in force. */
  set(id: string, follows: Follows): void {
    this.#known.set(id, Promise.resolve(followersOf(follows)))
  }

  /** The shortest cycle through the job. It never rejects: if an owner does not answer, the search is incomplete. */
  async through(id: string): Promise<ChainCycle> {
    const cameFrom = new Map<string, string>()
    let complete = true
    let level = [id]
    for (let depth = 0; depth < chainDepthMax && level.length > 0; depth++) {
      const next: string[] = []
      for (let at = 0; at < level.length; at += cycleAskedMax) {
        const here = level.slice(at, at + cycleAskedMax)
        const found = await Promise.all(here.map((each) => this.#followers(each)))
        for (const [index, followers] of found.entries()) {
          complete &&= followers !== undefined
          const from = here[index] ?? id
          if (followers?.includes(id)) return { path: pathTo(from, cameFrom, id), complete }
          for (const follower of followers ?? []) {
            if (cameFrom.has(follower)) continue
            cameFrom.set(follower, from)
            next.push(follower)
          }
        }
      }
      level = next
    }
    return { path: undefined, complete: complete && level.length === 0 }
  }

  /** Followers of the job that do not exist. An owner that does not answer is not asked again, and its jobs count as there. */
  async missing(id: string): Promise<string[]> {
    const followers = (await this.#followers(id)) ?? []
    await Promise.all(followers.map((each) => this.#followers(each)))
    return followers.filter((each) => this.#missing.has(each))
  }

  /** Undefined if the owner did not answer, or the limit is reached. */
  #followers(id: string): Promise<string[] | undefined> {
    const known = this.#known.get(id)
    if (known !== undefined) return known
    if (this.#left === 0) return Promise.resolve(undefined)
    this.#left--
    const asked = this.#ask(id).then(
      (follows) => {
        if (follows === undefined) this.#missing.add(id)
        return follows === undefined ? [] : followersOf(follows)
      },
      () => undefined,
    )
    this.#known.set(id, asked)
    return asked
  }
}

export const followersOf = ({ onSuccess, onFailure }: Follows): string[] => [...new Set([...onSuccess, ...onFailure])]

/** Cycles of the definitions in force. */
export function cyclesInForce(
  { owners, partitions }: { owners: OwnerDirectory; partitions: number },
  jobsMax: number,
): ChainCycles {
  return new ChainCycles(async (id) => {
    const partition = partitionOf(id, partitions)
    const stored = await owners.ask(partition, (owner) => owner.stored(partition, id))
    // An invalid one follows nobody.
    return stored === undefined ? undefined : (stored.definition.spec ?? { onSuccess: [], onFailure: [] })
  }, jobsMax)
}

function pathTo(last: string, cameFrom: ReadonlyMap<string, string>, id: string): string[] {
  const path = [id]
  for (let at: string | undefined = last; at !== undefined && at !== id; at = cameFrom.get(at)) path.unshift(at)
  return [id, ...path]
}

const pathText = (path: readonly string[]): string => path.map((id) => quoted(id)).join(' -> ')

/** The warning about a definition that closes a cycle. */
export const cycleWarning = (path: readonly string[]): string =>
  `These jobs trigger each other in a cycle: ${pathText(path)}. A chain of their runs ends after ${chainDepthMax} generations, or ${chainRunsMax} runs.`

/** The warning about followers that do not exist. */
export const missingWarning = (ids: readonly string[]): string =>
  `It triggers ${ids.map((id) => quoted(id)).join(', ')}, and there is no such job. Until there is, nothing is triggered: check the spelling in onSuccess and onFailure, or define it.`

/** The text about a chain that ended, with its cycle if it had one. */
export function chainText({ path, complete }: ChainCycle): string {
  if (path !== undefined) return `In the definitions in force this is the cycle: ${pathText(path)}.`
  return complete
    ? 'In the definitions in force no job that this one triggers leads back to it.'
    : 'Not all jobs that this one triggers could be checked. None of the checked ones leads back to it.'
}

/** Its job would be INVALID. `existing`: all topics that this process may see. Undefined: the target is there. */
export function targetWarning(
  { target: { topic, pool } }: Pick<JobDefinition, 'target'>,
  existing: ReadonlySet<string>,
  names: Pick<TopicNames, 'executions'>,
): string | undefined {
  if (topic !== null) {
    if (existing.has(topic.name)) return undefined
    return `Topic ${topic.name} does not exist, or this process may not see it. The job is invalid until it exists.`
  }
  const missing = topicsOfPool(names, pool).find((name) => !existing.has(name))
  if (missing === undefined) return undefined
  return `Pool ${pool} has no topics (${missing} does not exist, or this process may not see it). The job is invalid until they exist: create them with \`duelog topics apply --pools ${pool}\`, or start workers with the pool in DUELOG_POOLS; or name another pool.`
}

/** A job fires once for one instant: a repeated write of a job must not run it again. With another payload, that may surprise. */
export function firedBeforeWarning({ status, definition, offset, lastRun }: JobView): string | undefined {
  const at = definition?.schedule.at ?? null
  if (status !== 'COMPLETED' || at === null || lastRun?.scheduledFor !== at || lastRun.specOffset === offset) return undefined
  return `The job has already run for ${isoTime(at)}, and does not run for it again. Trigger it, or give it another time or delayMs.`
}

/** The dead runs of a partition, newest first, with bounded work for each call: by the index of jobs that have any. */
import type { FinishedRun, JobDefinition } from '../../../schemas/index.ts'
import { type Job, pristineState } from '../../../streams/state/index.ts'
import { errorKindOf } from '../../../streams/text/index.ts'
import type {
  DeadPlace,
  DeadRun,
  DeadRuns,
  DeadRunsQuery,
  ErrorKindCount,
  JobFilter,
  StoreReader,
} from '../../ground/ports/index.ts'
import { addKind, byDeath } from '../../ground/records/index.ts'
import type { SchedulerCodecs } from '../options/index.ts'
import { eachJob } from '../state/index.ts'
import { walkOf } from './job-ranges.ts'
import { matchesJob } from './job-search.ts'
import { deadEndsOf } from './run-ends.ts'

/** Jobs and dead runs that one call reads, and keys that one scan returns. A job has at most 1,000 dead runs. */
const readMax = 20_000
const slice = 500
/** With more jobs that have dead runs the list is made in another thread. */
const fewJobs = 25
/** Characters of errors and bytes of results after which one answer ends. */
const answerBytesMax = 4 * 1024 * 1024

interface Place {
  store: StoreReader
  codecs: SchedulerCodecs
}

/** Whether the list takes so little that the thread that fires can make it. */
export async function hasFewDead(store: StoreReader, { filter, after }: DeadRunsQuery): Promise<boolean> {
  const range = walkOf({ ...filter, dead: true }).rangeAfter(after)
  return (await store.scan({ ...range, limit: fewJobs, keysOnly: true })).length < fewJobs
}

export async function listDeadRuns(place: Place, query: DeadRunsQuery): Promise<DeadRuns> {
  const { store, codecs } = place
  const { filter, limit, before, harmlessOnly } = query
  const wanted: JobFilter = { ...filter, dead: true }
  const walk = walkOf(wanted)
  const found = new Newest(limit)
  const kinds = new Map<string, ErrorKindCount>()
  let count = 0
  let dropped = 0
  let read = 0
  let cursor = query.after
  let isEnd = false
  while (read < readMax && !isEnd) {
    const entries = await store.scan({ ...walk.rangeAfter(cursor), limit: slice, keysOnly: true })
    isEnd = entries.length < slice
    for await (const job of eachJob(
      store,
      codecs,
      entries.map(({ key }) => walk.idOf(key)),
    )) {
      cursor = job.id
      const state = job.state ?? pristineState(job)
      read += 1 + state.deadRuns.length
      if (job.definition === undefined || !matchesJob(job, state, wanted)) continue
      dropped += state.deadRunsDropped
      const ends = await deadEndsOf(store, codecs, job.id, state)
      for (const runNo of state.deadRuns) {
        const run = ends.get(runNo)
        if (run === undefined || !diedAs(run, filter, harmlessOnly)) continue
        const each = { at: run.finishedAt, jobId: job.id, runNo }
        count++
        addKind(kinds, kindOf(run, each.at, harmlessOnly))
        if (before === undefined || byDeath(before, each) < 0) found.add(deadRunOf(job, each, run))
      }
      if (read < readMax) continue
      isEnd = false
      break
    }
  }
  const { runs, isCut } = found.whole()
  return { runs, isCut, count, dropped, kinds: [...kinds.values()], ...(!isEnd && cursor !== undefined && { next: cursor }) }
}

/** Whether a dead run is one of the filter by its end. */
export function diedAs(run: FinishedRun, filter: JobFilter, harmlessOnly = false): boolean {
  const { diedFrom, diedTo, errorType, errorKind } = filter
  if (diedFrom !== undefined && run.finishedAt < diedFrom) return false
  if (diedTo !== undefined && run.finishedAt >= diedTo) return false
  if (errorType === undefined && errorKind === undefined) return true
  const last = run.errors.at(-1)
  if (last === undefined || (harmlessOnly && run.hiddenHash !== 0)) return false
  return (errorType === undefined || last.type === errorType) && (errorKind === undefined || errorKindOf(last) === errorKind)
}

function kindOf(run: FinishedRun, newestAt: number, harmlessOnly: boolean): ErrorKindCount {
  const last = run.errors.at(-1)
  if (last === undefined || (harmlessOnly && run.hiddenHash !== 0)) return { kind: '', type: '', message: '', count: 1, newestAt }
  return { kind: errorKindOf(last), type: last.type, message: last.message, count: 1, newestAt }
}

const withoutPayload = (spec: JobDefinition | undefined): JobDefinition | undefined => spec && { ...spec, payload: null }

const deadRunOf = ({ definition }: Job, place: DeadPlace, run: FinishedRun): DeadRun => ({
  place,
  job: { offset: definition?.offset ?? 0, definition: withoutPayload(definition?.spec) },
  run: { ...run, errors: run.errors.map((error) => ({ ...error, stack: null })) },
})

/** The newest of what is added. */
class Newest {
  readonly #limit: number
  #runs: DeadRun[] = []
  #isCut = false

  constructor(limit: number) {
    this.#limit = limit
  }

  add(run: DeadRun): void {
    this.#runs.push(run)
    if (this.#runs.length >= 2 * this.#limit + slice) this.#trim()
  }

  #trim(): void {
    this.#runs.sort((a, b) => byDeath(a.place, b.place))
    this.#isCut ||= this.#runs.length > this.#limit
    this.#runs.length = Math.min(this.#runs.length, this.#limit)
  }

  whole(): { runs: DeadRun[]; isCut: boolean } {
    this.#trim()
    const runs: DeadRun[] = []
    let bytes = 0
    for (const run of this.#runs) {
      bytes += sizeOf(run.run)
      if (runs.length > 0 && bytes > answerBytesMax) return { runs, isCut: true }
      runs.push(run)
    }
    return { runs, isCut: this.#isCut }
  }
}

const sizeOf = (run: FinishedRun): number =>
  200 + (run.result?.length ?? 0) + run.errors.reduce((sum, { type, message }) => sum + type.length + message.length, 0)

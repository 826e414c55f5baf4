/**
 * The demo's day on the containers: one job for each occurrence of real periodic jobs, over two pools. It is sent by the HTTP API and
 * judged by what the API says of ended runs. The outcomes are known before, because each job carries its own.
 */
import { attemptsMax, backoffMs } from '../../../src/program/demo/ci-job.ts'
import { periodicJobsOf, planDay } from '../../../src/program/demo/day-plan.ts'
import { readHouseFile } from '../../house/tree.ts'

export interface PlannedJob {
  id: string
  dueAt: number
  attempts: number
  dead: boolean
  body: Record<string, unknown>
}

export interface EndedRun {
  jobId: string
  outcome: string
  attempts: number
  dueAt: string | null
  startedAt: string | null
}

export interface Verdict {
  expected: number
  ended: number
  /** Each a sentence; empty is a proof. */
  faults: string[]
}

export interface LatenessRow {
  span: string
  runs: number
  p50Ms: number
  p99Ms: number
  maxMs: number
}

const faultsMax = 20
const pageSize = 1_000

export function planned(jobs: number, startAt: number, durationMs: number): PlannedJob[] {
  const periodic = periodicJobsOf(readHouseFile('examples/kubernetes-ci-periodics.ndjson').text).slice(0, jobs)
  return planDay(periodic, durationMs).map(({ id, delayMs, fate }, index) => ({
    id,
    dueAt: startAt + delayMs,
    // A hopeless build of the demo ends at once; here it is tried as often as any other that always fails.
    attempts: fate.dead ? attemptsMax : fate.attempts,
    dead: fate.dead,
    body: {
      id,
      schedule: { at: startAt + delayMs },
      target: { handler: 'build', pool: index % 3 === 0 ? 'reports' : 'default' },
      payload: { attempts: fate.attempts, dead: fate.dead, durationMs: fate.durationMs },
      retry: { maxAttempts: attemptsMax, backoff: { list: [...backoffMs] } },
    },
  }))
}

export class Api {
  readonly #url: string
  readonly #headers: Record<string, string>

  constructor(url: string, token: string) {
    this.#url = url
    this.#headers = { authorization: `Bearer ${token}` }
  }

  async get<T>(path: string): Promise<T> {
    const answer = await fetch(`${this.#url}${path}`, { headers: this.#headers, signal: AbortSignal.timeout(30_000) })
    if (!answer.ok) throw new Error(`GET ${path} answered ${answer.status}: ${(await answer.text()).slice(0, 500)}`)
    return (await answer.json()) as T
  }

  /** Throws unless every job was accepted. */
  async send(jobs: readonly PlannedJob[]): Promise<void> {
    const body = jobs.map((job) => JSON.stringify(job.body)).join('\n')
    const headers = { ...this.#headers, 'content-type': 'application/x-ndjson' }
    const answer = await fetch(`${this.#url}/v1/jobs/batch`, {
      method: 'POST',
      headers,
      body,
      signal: AbortSignal.timeout(120_000),
    })
    const lines = (await answer.text()).trim().split('\n')
    if (!answer.ok || lines.length !== jobs.length || lines.some((line) => line.includes('"error"')))
      throw new Error(`The batch was refused: ${answer.status}, ${lines.length} lines, such as ${lines[0]?.slice(0, 500)}`)
  }

  async ended(from: number): Promise<number> {
    const { total } = await this.get<{ total: Record<string, number> }>(`/v1/history/counts?from=${from}`)
    return Object.values(total).reduce((sum, count) => sum + count, 0)
  }

  async runs(from: number): Promise<EndedRun[]> {
    const all: EndedRun[] = []
    for (let cursor: string | null = ''; cursor !== null; ) {
      const more: string = cursor === '' ? '' : `&cursor=${encodeURIComponent(cursor)}`
      const page: { runs: EndedRun[]; cursor: string | null } = await this.get(
        `/v1/history?from=${from}&limit=${pageSize}${more}`,
      )
      all.push(...page.runs)
      cursor = page.cursor
    }
    return all
  }
}

/** Each job has exactly one run, with the outcome that it was made for, and at least as many attempts. */
export function judge(plan: readonly PlannedJob[], runs: readonly EndedRun[]): Verdict {
  const byJob = Map.groupBy(runs, ({ jobId }) => jobId)
  const faults: string[] = []
  for (const { id, attempts, dead } of plan) {
    const [run, ...more] = byJob.get(id) ?? []
    if (run === undefined) faults.push(`${id} has no run.`)
    else if (more.length > 0) faults.push(`${id} has ${more.length + 1} runs.`)
    else if (run.outcome !== (dead ? 'DEAD' : 'SUCCEEDED')) faults.push(`${id} ended as ${run.outcome}.`)
    else if (run.attempts < attempts) faults.push(`${id} ended after ${run.attempts} of ${attempts} attempts.`)
    byJob.delete(id)
  }
  for (const id of byJob.keys()) faults.push(`${id} is no job of the day.`)
  return { expected: plan.length, ended: runs.length, faults: faults.slice(0, faultsMax) }
}

/** Start of each last attempt after its due time, by spans that begin with a named moment. */
export function latenessBy(moments: readonly { name: string; at: number }[], runs: readonly EndedRun[]): LatenessRow[] {
  return moments.map(({ name, at }, index) => {
    const until = moments[index + 1]?.at ?? Number.POSITIVE_INFINITY
    const late = runs
      .flatMap(({ dueAt, startedAt }) =>
        dueAt === null || startedAt === null ? [] : [[Date.parse(dueAt), Date.parse(startedAt)]],
      )
      .filter(([due = 0]) => due >= at && due < until)
      .map(([due = 0, started = 0]) => started - due)
      .sort((a, b) => a - b)
    const quantile = (share: number): number => late[Math.min(late.length - 1, Math.floor(late.length * share))] ?? 0
    return { span: name, runs: late.length, p50Ms: quantile(0.5), p99Ms: quantile(0.99), maxMs: late.at(-1) ?? 0 }
  })
}

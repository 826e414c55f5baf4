/**
 * The partitions of another process, queried over its internal routes (routes/internal-routes.ts), which never forward a query.
 */
import { createHash } from 'node:crypto'
import type { Execution, FinishedRun } from '../../../schemas/index.ts'
import { DuelogError, errorTable, messageOf } from '../../errors/index.ts'
import { answerText } from '../../network/index.ts'
import type {
  ActiveRunView,
  Asker,
  DueCounts,
  JobFilter,
  JobQueries,
  JobView,
  ListedJobs,
  PartitionProof,
  PartitionView,
  StoredJob,
  WhyView,
  WorkerRuns,
} from '../../ports/index.ts'
import { remoteBytesMax, remoteTimeoutMs } from '../schemas/index.ts'
import { callerHeader, decodeInternalJson } from './internal-json.ts'
import type { RemoteOwner } from './owner-directory.ts'
import type { ProcessCounts } from './process-counts.ts'
import type { RemoteProof } from './proof-directory.ts'

export interface RemoteQueriesOptions {
  /** Bearer token for the other process. Absent: none is sent. */
  token?: string | undefined
  /** Time limit of an answer, in addition to a requested wait. Default: limits.remoteTimeoutMs. */
  timeoutMs?: number
  /** Largest answer. Default: limits.remoteBytesMax. */
  bytesMax?: number
}

/** Maximum characters of another process's error text. */
const detailCharsMax = 2_000

type Query = Record<string, string | number | boolean | undefined>

/** Every call rejects with `not-ready` if the process cannot be reached, is too slow, or does not own the partition. */
export function remoteQueries(url: string, options: RemoteQueriesOptions = {}): RemoteOwner & RemoteProof {
  const get = (path: string, query: Query = {}, waitMs = 0, asker?: Asker): Promise<Record<string, unknown>> =>
    ask(new URL(`/internal/v1/partitions${path}${queryText(query)}`, url), waitMs, options, asker)
  const jobPath = (partition: number, id: string): string => `/${partition}/jobs/${encodeURIComponent(id)}`
  const jobs = (of: Query): JobQueries => ({
    async job(partition, id) {
      return (await get(jobPath(partition, id), of)).job as JobView | undefined
    },
    async list(partition: number, filter: JobFilter, limit: number, after?: string, asker?: Asker) {
      return (await get(`/${partition}/jobs`, { ...filter, limit, after, ...of }, 0, asker)) as unknown as ListedJobs
    },
    async runs(partition, id) {
      return (await get(`${jobPath(partition, id)}/runs`, of)).runs as
        | { active: ActiveRunView[]; finished: FinishedRun[] }
        | undefined
    },
    async why(partition, id) {
      return (await get(`${jobPath(partition, id)}/why`, of)).why as WhyView | undefined
    },
    async deadRun(partition, id, runNo) {
      return (await get(`${jobPath(partition, id)}/dead-runs/${runNo}`, of)).execution as Execution | undefined
    },
  })
  return {
    ...jobs({}),
    copies: jobs({ stale: true }),
    async partitions() {
      return (await get('')).partitions as PartitionView[]
    },
    async counts() {
      return (await ask(new URL('/internal/v1/counts', url), 0, options)).counts as ProcessCounts
    },
    async proof() {
      return (await ask(new URL('/internal/v1/proof', url), 0, options)).proof as PartitionProof[]
    },
    async stored(partition, id) {
      return (await get(`${jobPath(partition, id)}/stored`)).job as StoredJob | undefined
    },
    async forecast(partition, range, asker) {
      return (await get(`/${partition}/forecast`, { ...range }, 0, asker)).counts as DueCounts
    },
    async workers(partition) {
      return (await get(`/${partition}/workers`)).workers as WorkerRuns[]
    },
    async applied(partition, offsets, timeoutMs) {
      return (await get(`/${partition}/applied`, { ...offsets, timeoutMs }, timeoutMs)).applied === true
    },
  }
}

async function ask(
  url: URL,
  waitMs: number,
  { token, timeoutMs = remoteTimeoutMs, bytesMax = remoteBytesMax }: RemoteQueriesOptions,
  asker?: Asker,
): Promise<Record<string, unknown>> {
  let status: number
  let text: string
  try {
    const response = await fetch(url, {
      headers: {
        ...(token !== undefined && { authorization: `Bearer ${token}` }),
        ...(asker !== undefined && { [callerHeader]: callerText(asker) }),
      },
      signal: AbortSignal.any([AbortSignal.timeout(timeoutMs + waitMs), ...(asker?.signal === undefined ? [] : [asker.signal])]),
      // An owner answers itself or not at all; a redirect would send the token elsewhere.
      redirect: 'error',
    })
    status = response.status
    text = await answerText(response, bytesMax)
  } catch (error) {
    asker?.signal?.throwIfAborted()
    throw new DuelogError('not-ready', `The owner at ${url.origin} did not answer: ${causeOf(error)}. Ask again later.`, {
      cause: error,
    })
  }
  const answer = parse(text)
  if (status === 200 && answer !== undefined) return answer
  throw errorOf(url, status, answer)
}

/** The caller as a header value: short, and ASCII. */
const callerText = ({ caller }: Asker): string => createHash('sha256').update(caller).digest('base64url')

/** The error of the other process if it is one of Duelog; otherwise no owner of Duelog is there. */
function errorOf(url: URL, status: number, answer: Record<string, unknown> | undefined): DuelogError {
  const code = answer?.code
  if (code === 'unauthorized' || code === 'forbidden') {
    return new DuelogError(
      'peer-refused',
      `The owner at ${url.origin} refused our question; give all processes of one system the same DUELOG_API_TOKENS.`,
    )
  }
  if (typeof code === 'string' && Object.hasOwn(errorTable, code) && typeof answer?.detail === 'string') {
    return new DuelogError(code as keyof typeof errorTable, answer.detail.slice(0, detailCharsMax))
  }
  return new DuelogError('not-ready', `The owner at ${url.origin} answered with status ${status}; ask again later.`)
}

function parse(text: string): Record<string, unknown> | undefined {
  try {
    const value = decodeInternalJson(text)
    return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : undefined
  } catch {
    return undefined
  }
}

/** The cause of an error of fetch, which says only "fetch failed". */
function causeOf(error: unknown): string {
  return messageOf(error instanceof Error && error.cause !== undefined ? error.cause : error)
}

function queryText(query: Query): string {
  const given = Object.entries(query).filter((entry): entry is [string, string | number] => entry[1] !== undefined)
  return given.length === 0
    ? ''
    : `?${new URLSearchParams(given.map(([name, value]): [string, string] => [name, String(value)]))}`
}

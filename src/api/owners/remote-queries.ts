/**
 * The partitions of another process, queried over its internal routes (routes/internal-routes.ts).
 */

import { createHash } from 'node:crypto'
import { cutText } from '../../../streams/text/index.ts'
import { DuelogError, errorTable } from '../../errors/index.ts'
import type { Shown } from '../../metrics/index.ts'
import { answerText, type Fetch, reasonOf } from '../../network/index.ts'
import type { Asker, Health, JobQueries, PartitionProof, PartitionView } from '../../ports/index.ts'
import { remoteBytesMax, remoteTimeoutMs } from '../schemas/index.ts'
import type { Values } from './call-parts.ts'
import type { HistoryQuery, RemoteHistory } from './history-directory.ts'
import type { Owner, RemoteOwner } from './owner.ts'
import { type AnyCall, callerHeader, decodeInternalJson, ownerCalls, partitionsPath, standbyCalls } from './owner-calls.ts'
import type { ProcessCounts } from './process-counts.ts'
import type { RemoteProof } from './proof-directory.ts'

export interface RemoteQueriesOptions {
  /** Bearer token for the other process. Absent: none is sent. */
  token?: string | undefined
  /** Default: fetch itself. */
  fetch?: Fetch | undefined
  /** Time limit of an answer, in addition to a requested wait. Default: limits.remoteTimeoutMs. */
  timeoutMs?: number
  /** Largest answer. Default: limits.remoteBytesMax. */
  bytesMax?: number
}

/** Maximum characters of another process's error text. */
const detailCharsMax = 2_000

/** Everything that another process answers. */
export type RemoteQueries = RemoteOwner &
  RemoteProof &
  RemoteHistory & {
    health(): Promise<Health>
    /** Its own metrics and those of its child processes. */
    metrics(): Promise<Shown[]>
  }

/** Every call rejects with `not-ready` if the process cannot be reached, is too slow, or does not own the partition. */
export function remoteQueries(url: string, options: RemoteQueriesOptions = {}): RemoteQueries {
  const called =
    ({ path, audit, field, request }: AnyCall, more: Values) =>
    async (...args: never[]): Promise<unknown> => {
      const { params, query, waitMs = 0, asker } = request(...args)
      const place = path.replace(/:(\w+)/g, (_, name: string) => encodeURIComponent(String(params[name])))
      const body = await ask(
        new URL(`${partitionsPath}${place}${queryText({ ...query, ...more })}`, url),
        { ...options, waitMs, ...(audit && { method: 'POST' }) },
        asker,
      )
      return field === undefined ? body : body[field]
    }
  const queries = (table: Record<string, AnyCall>, more: Values = {}): unknown =>
    Object.fromEntries(Object.entries(table).map(([name, call]) => [name, called(call, more)]))
  const read = async <Answer>(path: string, field: string): Promise<Answer> =>
    (await ask(new URL(path, url), options))[field] as Answer
  return {
    ...(queries({ ...standbyCalls, ...ownerCalls }) as Omit<Owner, 'copies'>),
    copies: queries(standbyCalls, { stale: true }) as JobQueries,
    partitions: () => read<PartitionView[]>(partitionsPath, 'partitions'),
    counts: () => read<ProcessCounts>('/internal/v1/counts', 'counts'),
    history: (query: HistoryQuery) => read(`/internal/v1/history${queryText({ query: JSON.stringify(query) })}`, 'answer'),
    proof: () => read<PartitionProof[]>('/internal/v1/proof', 'proof'),
    acknowledge: async (choice, { by, at, reason }) => {
      const query = { ...('ids' in choice ? { ids: choice.ids.join(' ') } : choice), by, at, reason }
      const address = new URL(`/internal/v1/proof/acknowledge${queryText(query)}`, url)
      return Number((await ask(address, { ...options, method: 'POST' })).count)
    },
    health: () => read<Health>('/internal/v1/health', 'health'),
    metrics: () => read<Shown[]>('/internal/v1/metrics', 'metrics'),
  }
}

async function ask(
  url: URL,
  options: RemoteQueriesOptions & { method?: 'POST'; waitMs?: number },
  asker?: Asker,
): Promise<Record<string, unknown>> {
  const { token, timeoutMs = remoteTimeoutMs, bytesMax = remoteBytesMax, method, waitMs = 0 } = options
  let status: number
  let text: string
  try {
    const response = await (options.fetch ?? fetch)(url, {
      ...(method && { method }),
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
    throw new DuelogError(
      'not-ready',
      `The owner at ${url.origin} did not answer: ${reasonOf(error, timeoutMs + waitMs)}. Ask again later.`,
      {
        cause: error,
      },
    )
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
      `The owner at ${url.origin} refused the request of this process; give all processes of one system the same DUELOG_API_TOKENS.`,
    )
  }
  if (typeof code === 'string' && Object.hasOwn(errorTable, code) && typeof answer?.detail === 'string') {
    return new DuelogError(code as keyof typeof errorTable, cutText(answer.detail, detailCharsMax))
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

function queryText(query: Values): string {
  const given = Object.entries(query).filter((entry): entry is [string, string | number] => entry[1] !== undefined)
  return given.length === 0
    ? ''
    : `?${new URLSearchParams(given.map(([name, value]): [string, string] => [name, String(value)]))}`
}

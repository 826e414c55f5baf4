/** Another process, called by the table of calls.ts. api/routes/internal-routes.ts answers. */
import { createHash } from 'node:crypto'
import { cutText } from '../../../streams/text/index.ts'
import { DuelogError, errorTable } from '../../ground/errors/index.ts'
import type { Shown } from '../../ground/metrics/index.ts'
import { answerText, type Fetch, reasonOf } from '../../ground/network/index.ts'
import type { Asker, Health, JobQueries, PartitionProof, ProofQueries } from '../../ground/ports/index.ts'
import { type Call, callerHeader, callPath, calls, decodeInternalJson, standbyCalls } from './calls.ts'
import { remoteBytesMax, remoteTimeoutMs } from './limits.ts'
import type { RemoteOwner } from './owner-directory.ts'
import type { RemoteHistory } from './role-directories.ts'
import type { PeerState } from './watched-peer.ts'

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
export interface RemoteQueries extends RemoteOwner, RemoteHistory {
  proof(): Promise<PartitionProof[]>
  acknowledge: ProofQueries['acknowledge']
  health(): Promise<Health>
  /** The answer comes after half a second. */
  alive(): Promise<PeerState>
  hears(instance: string): Promise<number | null>
  /** Its own metrics and those of its child processes. */
  metrics(): Promise<Shown[]>
}

/** Every call rejects with `not-ready` if the process cannot be reached, is too slow, or does not own the partition. */
export function remoteQueries(url: string, options: RemoteQueriesOptions = {}): RemoteQueries {
  const called = (table: Record<string, Call>, isStale = false): unknown =>
    Object.fromEntries(
      Object.entries(table).map(([name, { args, asks, waitMs, audit }]) => [
        name,
        async (...given: never[]): Promise<unknown> => {
          const address = new URL(callPath(name), url)
          const sent: unknown[] = given.slice(0, args.length)
          while (sent.length > 0 && sent.at(-1) === undefined) sent.pop()
          if (sent.length > 0) address.searchParams.set('args', JSON.stringify(sent))
          if (isStale) address.searchParams.set('stale', 'true')
          const call = { ...options, waitMs: waitMs?.(...given) ?? 0, ...(audit && { method: 'POST' as const }) }
          return (await ask(address, call, asks && given[args.length])).answer
        },
      ]),
    )
  return { ...(called(calls) as Omit<RemoteQueries, 'standbyReads'>), standbyReads: called(standbyCalls, true) as JobQueries }
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

/**
 * Upload of definitions, which reads the results while it sends. The server reads only as fast as its results are consumed, so memory
 * stays flat on both sides.
 */
import { Readable } from 'node:stream'
import { finished } from 'node:stream/promises'
import { DuelogError } from '../../ground/errors/index.ts'
import { lineGroups } from '../../ground/network/index.ts'
import { type ApiClient, unreachable } from './api-client.ts'

/** A result line of the API. */
export interface LineResult {
  /** From 1, in the order of sending. */
  line: number
  ok: boolean
  id?: string
  etag?: string
  partition?: number
  offset?: number
  code?: string
  detail?: string
  retriable?: boolean
}

/** Whether the owners have applied all jobs, and if not, why; and which of the first jobs became INVALID. */
export interface Applied {
  applied: boolean
  detail?: string
  invalid?: { id: string; reason: string }[]
}

/** Far longer than a result. A text in it may have U+2028, at which readline would split it. */
const resultBytesMax = 1024 * 1024

/**
 * `lines` are definitions without line feeds. Resolves when each has its result, with whether the owners have applied them. Rejects with
 * the error that `lines` threw, with the problem of an answer other than 200, and with `unreachable` when the connection broke. Results
 * passed on before are durable even then.
 */
export async function uploadLines(
  { address, calls, signal }: ApiClient,
  lines: AsyncIterable<string>,
  onResult: (result: LineResult) => void,
): Promise<Applied> {
  let sent = 0
  let results = 0
  let applied: Applied = { applied: false }
  let failure: unknown
  const counted = async function* (): AsyncGenerator<string> {
    const given = lines[Symbol.asyncIterator]()
    try {
      while (true) {
        // An error that a broken connection throws at the yield below is not a failure of the lines.
        const next = await given.next().catch((error: unknown) => {
          failure = error
          throw error
        })
        if (next.done === true) return
        sent++
        yield `${next.value}\n`
      }
    } finally {
      await given.return?.()
    }
  }
  const body = Readable.from(counted())
  const sending = finished(body).catch(() => {})
  const broken = new AbortController()
  try {
    const answer = await calls.writeJobs({ wait: 'applied', body, signal: broken.signal })
    for await (const group of lineGroups(buffersOf(answer), resultBytesMax)) {
      for (const { bytes } of group) {
        const result = JSON.parse(bytes.toString()) as LineResult | Applied
        if ('applied' in result) applied = result
        else {
          onResult(result)
          results++
        }
      }
    }
    await sending
  } catch (error) {
    broken.abort()
    body.destroy()
    await sending
    signal.throwIfAborted()
    if (failure !== undefined) throw failure
    if (error instanceof DuelogError) throw error
    throw results === 0 ? unreachable(address, error) : interrupted(address.url, results)
  }
  if (failure !== undefined) throw failure
  if (results < sent) throw interrupted(address.url, results)
  return applied
}

async function* buffersOf(stream: AsyncIterable<Uint8Array>): AsyncGenerator<Buffer> {
  for await (const { buffer, byteOffset, byteLength } of stream) yield Buffer.from(buffer, byteOffset, byteLength)
}

function interrupted(url: string, results: number): DuelogError {
  return new DuelogError(
    'unreachable',
    `The connection to ${url} broke after ${results} results. Send the same jobs again; this is safe, because each ID is scheduled only once.`,
  )
}

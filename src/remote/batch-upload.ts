/**
 * Upload of definitions to POST /v1/jobs/batch, which reads the results while it sends. The server reads only as fast as its results are
 * consumed, so memory stays flat on both sides. fetch would not give the answer before the request has ended.
 */
import http, { type ClientRequest, type IncomingMessage } from 'node:http'
import https from 'node:https'
import { Readable } from 'node:stream'
import { text } from 'node:stream/consumers'
import { pipeline } from 'node:stream/promises'
import { DuelogError } from '../errors/index.ts'
import { lineGroups } from '../network/index.ts'
import { type ApiClient, headersOf, problemOf, unreachable } from './api-client.ts'

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
  { address, signal }: ApiClient,
  lines: AsyncIterable<string>,
  onResult: (result: LineResult) => void,
): Promise<Applied> {
  const url = new URL(`${address.url}/v1/jobs/batch?wait=applied`)
  const request = (url.protocol === 'https:' ? https : http).request(url, {
    method: 'POST',
    headers: { ...headersOf(address), 'content-type': 'application/x-ndjson' },
    signal,
    ...(address.ca !== undefined && { ca: address.ca }),
  })
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
  const answered = responseOf(request)
  // An error of sending shows in the answer, or in its absence.
  const sending = pipeline(Readable.from(counted()), request).catch(() => {})
  try {
    const response = await answered
    if (response.statusCode !== 200) throw problemOf(address, response.statusCode ?? 0, await text(response))
    for await (const group of lineGroups(response, resultBytesMax)) {
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
    signal.throwIfAborted()
    request.destroy()
    await sending
    if (failure !== undefined) throw failure
    if (error instanceof DuelogError) throw error
    throw results === 0 ? unreachable(address, error) : cutOff(address.url, results)
  }
  if (failure !== undefined) throw failure
  if (results < sent) throw cutOff(address.url, results)
  return applied
}

function responseOf(request: ClientRequest): Promise<IncomingMessage> {
  return new Promise((resolve, reject) => {
    request.once('response', resolve)
    // The listener stays, because an unhandled error after the response would end the process.
    request.on('error', reject)
  })
}

function cutOff(url: string, results: number): DuelogError {
  return new DuelogError(
    'unreachable',
    `The connection to ${url} broke after ${results} results. Send the same jobs again; this is safe, because each ID is scheduled only once.`,
  )
}

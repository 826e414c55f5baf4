/**
 * bulk: definitions as lines of one HTTP request, each of them durable. The figures are the rate, and the peak memory of the API
 * process against the same process after a warm-up of 20,000 lines. The memory must not grow with the number of lines.
 */
import { once } from 'node:events'
import { request } from 'node:http'
import { Readable } from 'node:stream'
import { type Bed, jobs, Stage } from '../tools/bed.ts'
import { perSecond } from './accept.ts'

const payloadBytes = 200
const farMs = 7 * 86_400_000
const linesOfPiece = 200
const warmUpLines = 20_000

export async function bulk(bed: Bed, n = 1_000_000): Promise<Record<string, unknown>> {
  const stage = await Stage.open(bed)
  try {
    await stage.start('scheduler', 'owner')
    const api = await stage.start('api', 'api')
    const at = Date.now() + farMs
    await post(
      api.url,
      jobs(warmUpLines, () => at, payloadBytes, 'warm'),
    )
    const before = await api.report()
    const startedAt = performance.now()
    const { done, refused, bytes } = await post(
      api.url,
      jobs(n, (index) => at + index, payloadBytes),
    )
    const tookMs = performance.now() - startedAt
    const after = await api.report()
    const mb = (of: number): number => Math.round(of / 2 ** 20)
    return {
      n,
      done,
      refused,
      lost: n - done - refused,
      sentMb: mb(bytes),
      linesPerSecond: perSecond(n, tookMs),
      apiRssPeakMbBefore: mb(before.rssPeakBytes),
      apiRssPeakMb: mb(after.rssPeakBytes),
      apiCpuMs: Math.round(after.cpuMs - before.cpuMs),
    }
  } finally {
    await stage.close()
  }
}

/** Sends all jobs as the lines of one request and counts the lines of its answer. */
export async function post(url: string, all: Iterable<object>): Promise<{ done: number; refused: number; bytes: number }> {
  const call = request(`${url}/v1/jobs/batch`, { method: 'POST', headers: { 'content-type': 'application/x-ndjson' } })
  let bytes = 0
  function* pieces(): Generator<Buffer> {
    let lines: string[] = []
    const piece = (): Buffer => {
      const text = Buffer.from(lines.join(''))
      lines = []
      bytes += text.length
      return text
    }
    for (const job of all) {
      lines.push(`${JSON.stringify(job)}\n`)
      if (lines.length === linesOfPiece) yield piece()
    }
    if (lines.length > 0) yield piece()
  }
  Readable.from(pieces(), { objectMode: true, highWaterMark: 4 }).pipe(call)
  const [answer] = await once(call, 'response')
  const counts = { done: 0, refused: 0 }
  let rest = ''
  for await (const piece of answer.setEncoding('utf8')) {
    const lines = (rest + piece).split('\n')
    rest = lines.pop() ?? ''
    for (const line of lines) counts[line.includes('"ok":true') ? 'done' : 'refused']++
  }
  return { ...counts, bytes }
}

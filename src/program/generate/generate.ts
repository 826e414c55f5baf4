/** One load on a running Duelog: follow the log, send the jobs, wait for their runs, count them, and print a table. */
import { randomBytes } from 'node:crypto'
import { setTimeout as wait } from 'node:timers/promises'
import Table from 'cli-table3'
import type { KafkaClient } from '../../clients/client/index.ts'
import { createClient } from '../../clients/library/index.ts'
import { type ClusterOptions, clusterOf } from '../../log/cluster/index.ts'
import { LogFollower, latenessRows } from '../../tools/auditor/index.ts'
import { numberText, type Output, resolvedWithin, unlessAborted } from '../demo/index.ts'
import { Load, type LoadOptions } from './plan.ts'
import { type Result, Tally } from './tally.ts'

interface GenerateOptions {
  cluster: ClusterOptions
  load: LoadOptions
  /** How long after the due time of the last run to wait, in ms. Open runs then count as lost. */
  graceMs: number
  output: Output
  /** Ends the sending; jobs that were sent are still counted. */
  signal: AbortSignal
}

interface Outcome {
  sent: Sent
  result: Result
}

const progressMs = 5_000
const progressTtyMs = 200

/** Rejects with a DuelogError when the brokers, the registry or the topics are missing, and when the log refuses. */
export async function generate({ cluster, load: options, graceMs, output, signal }: GenerateOptions): Promise<Outcome> {
  const name = randomBytes(4).toString('hex')
  const load = new Load(options, name)
  const { log, names, openCodecs } = clusterOf(cluster)
  const client = createClient(cluster)
  const failed = new AbortController()
  const tally = new Tally(load)
  let follower: LogFollower | undefined
  try {
    const codecs = await openCodecs([options.pool])
    follower = new LogFollower({
      ...{ log, codecs, names, pool: options.pool, instance: 'generate', group: `generate-${name}` },
      onFact: (fact) => tally.enter(fact),
      onError: (error) => failed.abort(error),
    })
    await follower.startAtEnd()
    // Opens the client's connections, so that the sending time does not include it.
    await client.scheduleMany([])
    output.write(
      `Sending ${numberText(load.jobs)} ${load.jobs === 1 ? 'job' : 'jobs'} as generate-${name}-…, ${numberText(load.runs)} ${load.runs === 1 ? 'run follows' : 'runs follow'}.\n`,
    )
    const hide = showProgress(output, tally)
    try {
      const stop = AbortSignal.any([signal, failed.signal])
      const sent = await unlessAborted(
        sendLoad(client, load, (index) => tally.sent(index), stop),
        failed.signal,
      )
      await resolvedWithin(tally.ended(), load.spanMs + graceMs, failed.signal)
      return { sent, result: tally.result() }
    } finally {
      hide()
    }
  } finally {
    await Promise.all([follower?.stop(), client.close()])
  }
}

/** Returns a function that ends the display. */
function showProgress(output: Output, tally: Tally): () => void {
  const line = (): string => {
    const { expected, dispatched, started, succeeded, dead } = tally.counts
    const parts = { 'runs expected': expected, dispatched, started, ended: succeeded + dead }
    return Object.entries(parts)
      .map(([what, count]) => `${numberText(count)} ${what}`)
      .join(', ')
  }
  const print = (): unknown => output.write(output.isTTY ? `\r${line()} ` : `${line()}\n`)
  const timer = setInterval(print, output.isTTY ? progressTtyMs : progressMs)
  return () => {
    clearInterval(timer)
    print()
    if (output.isTTY) output.write('\n')
  }
}

export function isWhole({ sent, result }: Outcome): boolean {
  return result.lost === 0 && result.duplicate === 0 && sent.rejected === 0
}

/** At most 80 columns wide; no colors. */
export function summaryOf(outcome: Outcome): string {
  const { sent, result } = outcome
  const table = new Table({ colAligns: ['left', 'right'], style: { head: [], border: [], compact: true } })
  const counts: [string, number][] = [
    ['jobs sent', sent.accepted],
    ['jobs refused', sent.rejected],
    ['jobs per second', Math.round(sent.accepted / Math.max(sent.tookMs / 1_000, 0.001))],
    ['runs expected', result.expected],
    ['runs dispatched', result.dispatched],
    ['runs started', result.started],
    ['runs succeeded', result.succeeded],
    ['runs dead', result.dead],
    ['attempts failed', result.failedAttempts],
    ['lost', result.lost],
    ['duplicate', result.duplicate],
  ]
  table.push(...counts.map(([what, count]) => [what, numberText(count)]), ...latenessRows(result.lateness))
  const refusal = sent.rejection === undefined ? '' : `The first refusal: ${sent.rejection}\n`
  const verdict = isWhole(outcome) ? 'Nothing was lost, nothing ran twice.' : 'NOT whole: see lost, duplicate and refused.'
  return `${table.toString()}\n\n${refusal}${verdict}\n`
}

/** Interval of sends; jobs that became due in between are sent together. */
const tickMs = 20
/** Largest number of unacknowledged jobs. At this limit the log sets the rate. */
const unacknowledgedMax = 20_000

interface Sent {
  accepted: number
  rejected: number
  /** Reason of the first rejection. */
  rejection: string | undefined
  tookMs: number
}

/** Ends early when the signal is aborted. Rejects when the log refuses. */
async function sendLoad(
  client: KafkaClient,
  load: Load,
  onAccepted: (index: number) => void,
  signal: AbortSignal,
): Promise<Sent> {
  const begunAt = performance.now()
  const sent: Sent = { accepted: 0, rejected: 0, rejection: undefined, tookMs: 0 }
  const inFlight = new Set<Promise<void>>()
  const failure: { error?: unknown } = {}
  let unacknowledged = 0
  const send = async (from: number, to: number): Promise<void> => {
    const nowMs = Date.now()
    const indexes = Array.from({ length: to - from }, (_, place) => from + place)
    const refused = new Set<number>()
    const jobs = indexes.map((index) => load.job(index, nowMs))
    await client.scheduleMany(jobs, {
      onRejected: ({ index, error }) => {
        refused.add(from + index)
        sent.rejection ??= error.message
      },
    })
    sent.rejected += refused.size
    sent.accepted += indexes.length - refused.size
    for (const index of indexes) if (!refused.has(index)) onAccepted(index)
  }
  for (let next = 0; next < load.jobs && !signal.aborted && !('error' in failure); ) {
    const due = Math.min(load.dueAfter(performance.now() - begunAt), next + unacknowledgedMax - unacknowledged)
    if (due > next) {
      const count = due - next
      unacknowledged += count
      const sending = send(next, due)
        .catch((error: unknown) => {
          failure.error = error
        })
        .finally(() => {
          unacknowledged -= count
          inFlight.delete(sending)
        })
      inFlight.add(sending)
      next = due
    }
    if (next < load.jobs) await wait(tickMs, undefined, { signal }).catch(() => {})
  }
  await Promise.all(inFlight)
  if ('error' in failure) throw failure.error
  sent.tookMs = performance.now() - begunAt
  return sent
}

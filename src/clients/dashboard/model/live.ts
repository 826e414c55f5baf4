/**
 * The live connection: server-sent events, read by fetch because an EventSource cannot send a token.
 *
 *   connecting ──first stats message──► live ──connection lost──► lost ──wait──► connecting
 *
 * The stats messages of the last 10 minutes are kept for the charts. Data older than 5 s counts as stale, whatever the state of the connection.
 */
import { computed, signal } from '@preact/signals'
import type { StatsMessage } from '../../../ground/answers/index.ts'
import { api } from './request.ts'
import { eventsOf } from './wire.ts'

/** Time span of the charts. */
const historyMs = 600_000
const staleAfterMs = 5_000
const retryMsMin = 500
const retryMsMax = 5_000

export const connection = signal<'connecting' | 'live' | 'lost'>('connecting')
/** Oldest first. */
export const statsHistory = signal<StatsMessage[]>([])
/** Clock of this page, updated each second. */
export const nowMs = signal(Date.now())
const heardAtMs = signal<number | undefined>(undefined)

export const latest = computed(() => statsHistory.value.at(-1))
/** Age of the data shown; undefined while it is fresh. */
export const staleMs = computed(() => {
  const heardAt = heardAtMs.value
  const ageMs = heardAt === undefined ? 0 : nowMs.value - heardAt
  return ageMs > staleAfterMs ? ageMs : undefined
})

/** Whether the data shown may be out of date because no answer comes. */
export const isAway = computed(() => latest.value !== undefined && (connection.value === 'lost' || staleMs.value !== undefined))

/** Listens until `signal` is aborted. */
export async function listen(until: AbortSignal): Promise<void> {
  const ticking = setInterval(() => {
    nowMs.value = Date.now()
  }, 1_000)
  until.addEventListener('abort', () => clearInterval(ticking))
  let failures = 0
  while (!until.aborted) {
    try {
      await listenOnce(until, () => {
        failures = 0
      })
    } catch {
      // The cause does not matter here: the page shows that it is not live, and retries.
    }
    if (until.aborted) return
    connection.value = 'lost'
    const waitMs = Math.min(retryMsMin * 2 ** failures++, retryMsMax)
    await new Promise((resolve) => setTimeout(resolve, waitMs))
  }
}

async function listenOnce(until: AbortSignal, onMessage: () => void): Promise<void> {
  for await (const { event, data } of eventsOf(await api.listenEvents({ signal: until }))) {
    if (event !== 'pulse') continue
    onMessage()
    take(JSON.parse(data) as StatsMessage)
  }
}

function take(stats: StatsMessage): void {
  connection.value = 'live'
  nowMs.value = heardAtMs.value = Date.now()
  statsHistory.value = [...statsHistory.value.filter(({ at }) => at > stats.at - historyMs && at < stats.at), stats]
}

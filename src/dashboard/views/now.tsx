/** The current state of the system: problems, figures, charts, and partitions. */
import { useSignal } from '@preact/signals'
import {
  ask,
  axisDuration,
  count,
  counted,
  duration,
  hasUnserved,
  instant,
  isAway,
  type Limit,
  type LimitsSeen,
  latest,
  limitsSeen,
  type Pool,
  type Rates,
  rate,
  ratesOver,
  type StatsMessage,
  standingOf,
  statsHistory,
  troublesOf,
  useResource,
  type Waits,
} from '../model/index.ts'
import { Chart, Heading, Loading, PartitionTable, SeriesCharts } from '../parts/index.ts'

/** Window of rates and percentiles. A shorter one is noisy; a longer one hides a new problem. */
const windowMs = 10_000

const ranges = [
  { value: 'live', title: '10 min', href: '/?range=live' },
  { value: 'hour', title: '1 h', href: '/' },
  { value: 'day', title: '24 h', href: '/?range=day' },
] as const

/** Pools and limits are asked about as rarely as the charts of the last hour. */
const waitsRefreshMs = 10_000
/** While a pool has no workers, somebody may be starting one and watching this page. */
const unservedRefreshMs = 2_000
/** Kept while other views are shown, so that an overload is known at once after the return. */
let limitsBefore: LimitsSeen | undefined

/** Asks only while runs wait, or were dispatched and not started. What is not answered is no trouble here; its own view shows why. */
async function loadWaits(signal: AbortSignal): Promise<Waits> {
  const partitions = latest.peek()?.partitions ?? []
  const some = (of: (underWay: StatsMessage['partitions'][number]['underWay']) => number): boolean =>
    partitions.some(({ underWay }) => of(underWay) > 0)
  const [pools, limits] = await Promise.allSettled([
    some(({ dispatched }) => dispatched) ? ask<{ pools: Pool[] }>('/v1/pools', { signal }) : undefined,
    some(({ waiting }) => waiting) ? ask<{ limits: Limit[] }>('/v1/limits', { signal }) : undefined,
  ])
  const given = limits.status === 'fulfilled' ? limits.value?.limits : undefined
  limitsBefore = given && limitsSeen(limitsBefore, given, Date.now())
  return { pools: pools.status === 'fulfilled' ? pools.value?.pools : undefined, limits: limitsBefore }
}

export function NowView({ query }: { query: URLSearchParams }) {
  const range = ranges.find(({ value }) => value === query.get('range'))?.value ?? 'hour'
  const stats = latest.value
  if (stats === undefined) {
    return (
      <>
        <Heading title="Now" />
        <Loading what="live figures" />
      </>
    )
  }
  const kept = statsHistory.value
  const rates = ratesOver(kept, windowMs)
  return (
    <>
      <Heading title="Now">
        <p class="beside">Rates and lateness of the last {duration(windowMs)}.</p>
        <nav class="choice" aria-label="Range of the charts">
          {ranges.map(({ value, title, href }) => (
            <a key={value} href={href} aria-current={value === range ? 'true' : undefined}>
              {title}
            </a>
          ))}
        </nav>
      </Heading>
      {isAway.value && <Away at={stats.at} />}
      <div class={isAway.value ? 'stale' : undefined}>
        <Troubles kept={kept} rates={rates} />
        <Figures stats={stats} rates={rates} />
        {range === 'live' ? <Charts kept={kept} rates={rates} /> : <SeriesCharts range={range} />}
        <h2>Partitions</h2>
        <PartitionTable partitions={stats.partitions} query={query} />
      </div>
    </>
  )
}

function Away({ at }: { at: number }) {
  return (
    <p class="state bad" role="alert">
      Duelog is not responding. Everything below is as it was at {instant(at)}, and may have changed. This page retries
      automatically.
    </p>
  )
}

function Troubles({ kept, rates }: { kept: readonly StatsMessage[]; rates: Rates | undefined }) {
  const unserved = useSignal(false)
  const { value } = useResource('waits', loadWaits, () => (unserved.value ? unservedRefreshMs : waitsRefreshMs))
  const troubles = troublesOf(kept, rates, value.value)
  unserved.value = hasUnserved(kept.at(-1), value.value?.pools)
  const partitions = kept.at(-1)?.partitions.length ?? 0
  // Nothing is on time when nobody answers.
  const verb = isAway.value ? 'fired' : 'fire'
  return (
    <ul class="troubles" aria-label={troubles.length === 0 ? 'State' : 'Problems'}>
      {troubles.every(({ waits }) => waits) && (
        <li class={`status ${isAway.value ? 'plain' : 'good'}`}>
          <span>
            {partitions === 1
              ? `The partition ${isAway.value ? 'fired' : 'fires'}`
              : `All ${count(partitions)} partitions ${verb}`}{' '}
            on time.
          </span>
        </li>
      )}
      {troubles.map(({ text, href, waits }) => (
        <li key={text} class={`status ${waits ? 'warn' : 'bad'}`}>
          <span>
            {text} {href !== undefined && <a href={href}>View</a>}
          </span>
        </li>
      ))}
    </ul>
  )
}

function Figures({ stats, rates }: { stats: StatsMessage; rates: Rates | undefined }) {
  const all = { dispatched: 0, running: 0, waiting: 0, unprocessed: 0 }
  for (const { underWay, mailboxDepth } of stats.partitions) {
    all.dispatched += underWay.dispatched
    all.running += underWay.running
    all.waiting += underWay.waiting
    all.unprocessed += mailboxDepth
  }
  const late = (ms: number | undefined): string => (ms === undefined ? '—' : duration(ms))
  const { deadRuns, deadJobs, missing } = standingOf(stats)
  return (
    <dl class="figures">
      <Figure name="Fires per second" value={rates === undefined ? '—' : rate(rates.firesPerSecond)} />
      <Figure name="Start lateness p50" value={late(rates?.p50Ms)} />
      <Figure name="Start lateness p99" value={late(rates?.p99Ms)} bad={(rates?.p99Ms ?? 0) > 1_000} />
      <Figure
        name="Backlog"
        value={count(all.dispatched + all.unprocessed)}
        note="undelivered attempts and unprocessed records"
      />
      <Figure name="Running" value={count(all.running)} />
      <Figure
        name="Waiting"
        value={count(all.waiting)}
        note={`for a retry, a limit, a handler or a paused pool; ${rate(rates?.retriesPerSecond ?? 0)} retries/s`}
      />
      <Figure
        name="Dead letters"
        value={missing === stats.partitions.length ? '—' : count(deadRuns)}
        note={missing === 0 ? `of ${counted(deadJobs, 'job')}` : `${counted(missing, 'partition')} not counted yet`}
        bad={deadRuns > 0}
        href="/dead-letters"
      />
    </dl>
  )
}

function Figure({
  name,
  value,
  note,
  bad = false,
  href,
}: {
  name: string
  value: string
  note?: string
  bad?: boolean
  href?: string
}) {
  return (
    <div class={bad ? 'bad' : undefined}>
      <dt>{name}</dt>
      <dd>
        {href === undefined ? value : <a href={href}>{value}</a>}
        {note !== undefined && <small>{note}</small>}
      </dd>
    </div>
  )
}

const latenessLines = [
  { name: 'p99', color: 'line-2' },
  { name: 'p50', color: 'line-1' },
]
const rateLines = [
  { name: 'fires', color: 'line-1', filled: true },
  { name: 'runs ended', color: 'line-2' },
]

function Charts({ kept, rates }: { kept: readonly StatsMessage[]; rates: Rates | undefined }) {
  const points = kept.map((_, index) => ratesOver(kept.slice(Math.max(0, index - windowMs / 1_000), index + 1), windowMs))
  const column = (of: (rates: Rates) => number | undefined): (number | null)[] =>
    points.map((point) => (point === undefined ? null : (of(point) ?? null)))
  const times = kept.map(({ at }) => at)
  const last = (ms: number | undefined): string => (ms === undefined ? 'no starts' : duration(ms))
  return (
    <div class="charts">
      <Chart
        title="Start lateness"
        now={`p50 ${last(rates?.p50Ms)}, p99 ${last(rates?.p99Ms)}`}
        lines={latenessLines}
        times={times}
        values={[column((point) => point.p99Ms), column((point) => point.p50Ms)]}
        axisWords={duration}
        axisText={axisDuration}
        atLeast={20}
      />
      <Chart
        title="Runs per second"
        now={`${rate(rates?.firesPerSecond ?? 0)} fires, ${rate(rates?.endsPerSecond ?? 0)} ended`}
        lines={rateLines}
        times={times}
        values={[column((point) => point.firesPerSecond), column((point) => point.endsPerSecond)]}
        axisWords={rate}
        atLeast={1}
      />
    </div>
  )
}

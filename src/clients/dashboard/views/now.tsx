/** The current state of the system: problems, figures, charts, and partitions. */
import { useSignal } from '@preact/signals'
import {
  api,
  axisDuration,
  count,
  counted,
  duration,
  hasUnserved,
  instant,
  isAway,
  type LimitsSeen,
  latest,
  limitsSeen,
  ms,
  type OwnerState,
  type Rates,
  rate,
  ratesOver,
  type StatsMessage,
  standingOf,
  statsHistory,
  troublesOf,
  underWayOf,
  useResource,
  type Waits,
} from '../model/index.ts'
import {
  Chart,
  Choice,
  column,
  Figure,
  Finding,
  Heading,
  head,
  inOrder,
  Loading,
  numeric,
  Order,
  type Orders,
  SeriesCharts,
  Status,
  Table,
} from '../parts/index.ts'

/** Window of rates and percentiles. A shorter one is noisy; a longer one hides a new problem. */
const windowMs = 10_000

const ranges = [
  ['live', '10 min', '/?range=live'],
  ['hour', '1 h', '/'],
  ['day', '24 h', '/?range=day'],
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
    some(({ dispatched }) => dispatched) ? api.listPools({ signal }) : undefined,
    some(({ waiting }) => waiting) ? api.listLimits({ signal }) : undefined,
  ])
  const given = limits.status === 'fulfilled' ? limits.value?.limits : undefined
  limitsBefore = given && limitsSeen(limitsBefore, given, Date.now())
  return { pools: pools.status === 'fulfilled' ? pools.value?.pools : undefined, limits: limitsBefore }
}

export function NowView({ query }: { query: URLSearchParams }) {
  const [range] = ranges.find(([value]) => value === query.get('range')) ?? ranges[1]
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
        <Choice label="Range of the charts" links={ranges.map(([value, title, href]) => [title, href, value === range])} />
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
        <Finding tone={isAway.value ? 'plain' : 'good'}>
          {partitions === 1 ? `The partition ${isAway.value ? 'fired' : 'fires'}` : `All ${count(partitions)} partitions ${verb}`}{' '}
          on time.
        </Finding>
      )}
      {troubles.map(({ text, href, waits }) => (
        <Finding key={text} tone={waits ? 'warn' : 'bad'}>
          {text} {href !== undefined && <a href={href}>View</a>}
        </Finding>
      ))}
    </ul>
  )
}

function Figures({ stats, rates }: { stats: StatsMessage; rates: Rates | undefined }) {
  const all = underWayOf(stats)
  const { deadRuns, deadJobs, missing } = standingOf(stats)
  return (
    <dl class="figures">
      <Figure name="Fires per second">{rates === undefined ? '—' : rate(rates.firesPerSecond)}</Figure>
      <Figure name="Start lateness p50">{ms(rates?.p50Ms)}</Figure>
      <Figure name="Start lateness p99" bad={(rates?.p99Ms ?? 0) > 1_000}>
        {ms(rates?.p99Ms)}
      </Figure>
      <Figure name="Backlog" note="undelivered attempts and unprocessed records">
        {count(all.dispatched + stats.partitions.reduce((sum, { mailboxDepth }) => sum + mailboxDepth, 0))}
      </Figure>
      <Figure name="Running">{count(all.running)}</Figure>
      <Figure
        name="Waiting"
        note={`for a retry, a limit, a handler or a paused pool; ${rate(rates?.retriesPerSecond ?? 0)} retries/s`}
      >
        {count(all.waiting)}
      </Figure>
      <Figure
        name="Dead letters"
        note={missing === 0 ? `of ${counted(deadJobs, 'job')}` : `${counted(missing, 'partition')} not counted yet`}
        bad={deadRuns > 0}
      >
        <a href="/dead-letters">{missing === stats.partitions.length ? '—' : count(deadRuns)}</a>
      </Figure>
    </dl>
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

const phaseWords = {
  active: '',
  restoring: 'reading its changelog',
  following: 'keeping a copy',
  claiming: 'taking over',
  closed: 'nothing fires',
} as const

const columns = [
  head<OwnerState>('Partition', ({ partition }) => partition, { class: 'number' }),
  column<OwnerState>('Phase', ({ phase, problem }) => (
    <>
      <Status of={phase} /> <span class="aside">{problem == null ? phaseWords[phase] : 'stopped: its clock is wrong'}</span>
    </>
  )),
  column<OwnerState>('Owner', ({ instance, phase }) =>
    instance !== null ? (
      <span class="code">{instance}</span>
    ) : (
      <span class="aside">{phase === 'closed' ? '—' : 'this process'}</span>
    ),
  ),
  column<OwnerState>('Zone rules', ({ zoneRules, zoneWalk }) => (
    <>
      {zoneRules ?? <span class="aside">—</span>}
      {zoneWalk != null && (
        <span class="aside">
          {' '}
          new: {count(zoneWalk.checked)} jobs checked, {count(zoneWalk.moved)} moved
        </span>
      )}
    </>
  )),
  numeric<OwnerState>('To restore', ({ partition, restoreRemaining: left, restoreTotal: total }) => (
    <>
      {left === 0 ? '—' : count(left)}
      {left > 0 && total > 0 && <progress max={total} value={total - left} aria-label={`Restore of partition ${partition}`} />}
    </>
  )),
  numeric<OwnerState>('Unprocessed', ({ mailboxDepth }) => count(mailboxDepth)),
  numeric<OwnerState>('Dispatched', ({ underWay }) => count(underWay.dispatched)),
  numeric<OwnerState>('Running', ({ underWay }) => count(underWay.running)),
  numeric<OwnerState>('Waiting', ({ underWay }) => count(underWay.waiting)),
  numeric<OwnerState>('Overdue by', ({ overdueMs }) => (overdueMs === 0 ? '—' : duration(overdueMs))),
  numeric<OwnerState>('Late by', ({ lateness }) => (
    <>
      {ms(lateness?.p50Ms)}
      {lateness != null && <span class="aside">at most {duration(lateness.maxMs)}</span>}
    </>
  )),
]

const orders: Orders<OwnerState> = [
  ['', 'by number'],
  ['late', 'latest starts first', ({ lateness }) => lateness?.p99Ms ?? -1],
  ['overdue', 'most overdue first', ({ overdueMs }) => overdueMs],
  ['unprocessed', 'most unprocessed first', ({ mailboxDepth }) => mailboxDepth],
  ['waiting', 'most waiting first', ({ underWay }) => underWay.waiting],
]

function PartitionTable({ partitions, query }: { partitions: readonly OwnerState[]; query: URLSearchParams }) {
  return (
    <>
      <Order href="/" query={query} orders={orders} of="Partitions" />
      <Table of="partitions" columns={columns} rows={inOrder(partitions, query, orders)} keyOf={({ partition }) => partition} />
    </>
  )
}

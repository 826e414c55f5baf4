/** The pools with their workers and runs, their pauses, and the concurrency keys and rate limits that runs wait for. */
import {
  api,
  changePool,
  count,
  counted,
  duration,
  type Limit,
  mayOperate,
  type Pool,
  runsWait,
  useResource,
  visible,
  wantedWords,
} from '../model/index.ts'
import {
  Answer,
  column,
  Empty,
  Heading,
  head,
  Names,
  numeric,
  PauseButtons,
  PauseState,
  Table,
  Text,
  When,
} from '../parts/index.ts'

export function PoolsView() {
  const list = useResource('pools', (signal) => api.listPools({ signal }))
  return (
    <>
      <Heading title="Pools and limits" />
      <Answer of={list} what="pools">
        {({ pools }) => <Table of="pools" columns={poolColumns(() => list.refresh())} rows={pools} keyOf={({ pool }) => pool} />}
      </Answer>
      <Limits />
    </>
  )
}

const poolColumns = (refresh: () => Promise<void>) => [
  head<Pool>('Pool', ({ pool }) => visible(pool)),
  column<Pool>('State', (pool) => <PoolState {...pool} />),
  numeric<Pool>('Workers', (pool) => {
    const held = pool.dispatched + pool.waiting
    const wantedText = wantedWords(pool)
    return (
      <>
        {count(pool.workers)}
        {pool.workers === 0 && held > 0 && <span class="aside bad">{runsWait(held)}</span>}
        {wantedText !== undefined && <span class="aside">{wantedText}</span>}
      </>
    )
  }),
  numeric<Pool>('Slots', ({ slots }) => (slots === null ? '—' : count(slots))),
  numeric<Pool>('Dispatched', ({ dispatched }) => count(dispatched)),
  numeric<Pool>('Running', ({ running }) => count(running)),
  numeric<Pool>('Waiting', (pool) => (
    <>
      {count(pool.waiting)}
      {waitTexts(pool).map((text) => (
        <span key={text} class="aside">
          {text}
        </span>
      ))}
    </>
  )),
  column<Pool>('Handlers', ({ handlers }) =>
    handlers.length === 0 ? '—' : <Names title={counted(handlers.length, 'handler')} names={handlers} />,
  ),
  mayOperate.value &&
    column<Pool>('Actions', ({ pool, state }) => (
      <PauseButtons of={`the pool ${visible(pool)}`} state={state} change={(word) => changePool(pool, word)} changed={refresh} />
    )),
]

function PoolState({ state, stateSince, pausedBy, workers, dispatched, waiting }: Pool) {
  return (
    <>
      {workers === 0 && state === 'ACTIVE' ? (
        // Nothing of it would run.
        <span class={dispatched + waiting > 0 ? 'status bad' : 'status plain'}>no workers</span>
      ) : (
        <PauseState state={state} since={stateSince} />
      )}
      {pausedBy !== null && (
        <span class="aside">
          by <Text of={pausedBy} />
        </span>
      )}
    </>
  )
}

/** What the runs of the pool wait for. */
function waitTexts({ waiting, inPausedPool, withoutHandler }: Pool): string[] {
  const others = waiting - inPausedPool - withoutHandler
  return [
    ...(inPausedPool > 0 ? [`${count(inPausedPool)} until it is resumed`] : []),
    ...(withoutHandler > 0 ? [`${count(withoutHandler)} for a handler`] : []),
    ...(others > 0 ? [`${count(others)} for a retry or a limit`] : []),
  ]
}

/** Of a rate limit: the starts of the last period, and those that were given for later. */
const limitColumns = [
  head<Limit>('Key', ({ key }) => visible(key), { class: 'code' }),
  column<Limit>('Kind', ({ perMs }) => (perMs === undefined ? 'concurrency' : 'rate')),
  numeric<Limit>('Partition', ({ partition }) => partition),
  numeric<Limit>('In use', ({ held }) => count(held)),
  numeric<Limit>('Limit', ({ limit, perMs }) => (
    <>
      {count(limit)}
      {perMs !== undefined && <span class="aside">in {duration(perMs)}</span>}
    </>
  )),
  numeric<Limit>('Waiting', ({ waiting }) => count(waiting)),
  column<Limit>('State', (limit) => <LimitState {...{ limit }} />),
]

function LimitState({ limit: { limit, held, waiting, perMs, nextAt } }: { limit: Limit }) {
  const isFull = waiting > 0 || (perMs !== undefined && held >= limit)
  return (
    <>
      {waiting > 0 ? (
        <a class="status warn" href="/runs?state=WAITING">
          full: {runsWait(waiting)}
        </a>
      ) : (
        <span class={isFull ? 'status warn' : 'status good'}>{isFull ? 'full' : 'free'}</span>
      )}
      {isFull && nextAt !== undefined && (
        <span class="aside">
          next start <When at={nextAt} plain />
        </span>
      )}
    </>
  )
}

function Limits() {
  return (
    <>
      <h2>Limits</h2>
      <Answer of={useResource('limits', (signal) => api.listLimits({ signal }))} what="limits">
        {({ limits, missing }) => (
          <>
            {missing.length > 0 && <p class="state bad">Partitions {missing.join(', ')}: the owner does not answer.</p>}
            {limits.length === 0 ? (
              <Empty>No concurrency key and no rate limit is in use.</Empty>
            ) : (
              <Table
                of="limits"
                columns={limitColumns}
                rows={limits}
                keyOf={({ partition, perMs, key }) => `${partition} ${perMs ?? ''} ${key}`}
              />
            )}
          </>
        )}
      </Answer>
    </>
  )
}

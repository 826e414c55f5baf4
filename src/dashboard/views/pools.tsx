/** The pools with their workers and runs, their pauses, and the concurrency keys and rate limits that runs wait for. */
import {
  ask,
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
import { Empty, Heading, Loading, Names, PauseButtons, PauseState, Problem, Table, Text, When } from '../parts/index.ts'

export function PoolsView() {
  const resource = useResource('pools', (signal) => ask<{ pools: Pool[] }>('/v1/pools', { signal }))
  const { value, problem } = resource
  const pools = value.value?.pools
  return (
    <>
      <Heading title="Pools and limits" />
      <Problem problem={problem.value} known={pools !== undefined} />
      {pools === undefined && problem.value === undefined && <Loading what="pools" />}
      {pools !== undefined && (
        <Table
          of="pools"
          columns={[
            'Pool',
            'State',
            { title: 'Workers', number: true },
            { title: 'Slots', number: true },
            { title: 'Dispatched', number: true },
            { title: 'Running', number: true },
            { title: 'Waiting', number: true },
            'Handlers',
            mayOperate.value && 'Actions',
          ]}
        >
          {pools.map((pool) => (
            <PoolRow key={pool.pool} pool={pool} refresh={() => resource.refresh()} />
          ))}
        </Table>
      )}
      <Limits />
    </>
  )
}

function PoolRow({ pool: view, refresh }: { pool: Pool; refresh: () => Promise<void> }) {
  const { pool, state, stateSince, pausedBy, workers, slots, dispatched, running, waiting, handlers } = view
  const held = dispatched + waiting
  const wantedText = wantedWords(view)
  return (
    <tr>
      <th scope="row">{visible(pool)}</th>
      <td>
        {workers === 0 && state === 'ACTIVE' ? (
          // Nothing of it would run.
          <span class={held > 0 ? 'status bad' : 'status plain'}>no workers</span>
        ) : (
          <PauseState state={state} since={stateSince} />
        )}
        {pausedBy !== null && (
          <span class="aside">
            by <Text of={pausedBy} />
          </span>
        )}
      </td>
      <td class="number">
        {count(workers)}
        {workers === 0 && held > 0 && <span class="aside bad">{runsWait(held)}</span>}
        {wantedText !== undefined && <span class="aside">{wantedText}</span>}
      </td>
      <td class="number">{slots === null ? '—' : count(slots)}</td>
      <td class="number">{count(dispatched)}</td>
      <td class="number">{count(running)}</td>
      <td class="number">
        {count(waiting)}
        {waitTexts(view).map((text) => (
          <span key={text} class="aside">
            {text}
          </span>
        ))}
      </td>
      <td>{handlers.length === 0 ? '—' : <Names title={counted(handlers.length, 'handler')} names={handlers} />}</td>
      {mayOperate.value && (
        <td>
          <PauseButtons
            of={`the pool ${visible(pool)}`}
            state={state}
            change={async (word) => {
              if (await changePool(pool, word)) await refresh()
            }}
          />
        </td>
      )}
    </tr>
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

function Limits() {
  const { value, problem } = useResource('limits', (signal) =>
    ask<{ limits: Limit[]; missing: number[] }>('/v1/limits', { signal }),
  )
  const limits = value.value?.limits
  const missing = value.value?.missing ?? []
  return (
    <>
      <h2>Limits</h2>
      <Problem problem={problem.value} known={limits !== undefined} />
      {missing.length > 0 && <p class="state bad">Partitions {missing.join(', ')}: the owner does not answer.</p>}
      {limits?.length === 0 && <Empty>No concurrency key and no rate limit is in use.</Empty>}
      {limits !== undefined && limits.length > 0 && (
        <Table
          of="limits"
          columns={[
            'Key',
            'Kind',
            { title: 'Partition', number: true },
            { title: 'In use', number: true },
            { title: 'Limit', number: true },
            { title: 'Waiting', number: true },
            'State',
          ]}
        >
          {limits.map((limit) => (
            <LimitRow key={`${limit.partition} ${limit.perMs ?? ''} ${limit.key}`} of={limit} />
          ))}
        </Table>
      )}
    </>
  )
}

/** Of a rate limit: the starts of the last period, and those that were given for later. */
function LimitRow({ of: { partition, key, limit, held, waiting, perMs, nextAt } }: { of: Limit }) {
  const isFull = waiting > 0 || (perMs !== undefined && held >= limit)
  return (
    <tr>
      <th scope="row" class="code">
        {visible(key)}
      </th>
      <td>{perMs === undefined ? 'concurrency' : 'rate'}</td>
      <td class="number">{partition}</td>
      <td class="number">{count(held)}</td>
      <td class="number">
        {count(limit)}
        {perMs !== undefined && <span class="aside">in {duration(perMs)}</span>}
      </td>
      <td class="number">{count(waiting)}</td>
      <td>
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
      </td>
    </tr>
  )
}

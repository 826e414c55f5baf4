/** The workers of all pools: their hosts, their runs and their last reports. */
import {
  api,
  changeWorker,
  count,
  type ExecutorProcesses,
  limitsWords,
  mayOperate,
  processesWords,
  useResource,
  visible,
  type Worker,
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
  RunLink,
  Table,
  Text,
  When,
} from '../parts/index.ts'

export function WorkersView() {
  const list = useResource('workers', (signal) => api.listWorkers({ signal }))
  return (
    <>
      <Heading title="Workers" />
      <Answer of={list} what="workers">
        {({ workers, executors = [] }) => (
          <>
            {workers.length === 0 ? (
              <Empty>
                No workers are connected. Due runs are dispatched and wait. Start a process with the executor role, or your own
                worker.
              </Empty>
            ) : (
              <Table
                of="workers"
                columns={columnsOf(workers, () => list.refresh())}
                rows={workers}
                keyOf={({ instance }) => instance}
              />
            )}
            {executors.length > 0 && <Executors executors={executors} />}
          </>
        )}
      </Answer>
    </>
  )
}

/** What started the workers that are executor processes, how many it keeps, and why. */
function Executors({ executors }: { executors: ExecutorProcesses[] }) {
  const { value } = useResource('pools', (signal) => api.listPools({ signal }))
  const columns = [
    head<ExecutorProcesses>('Started by', ({ host, parent, pid }) => <Text of={host === null ? parent : `${host}:${pid}`} />, {
      ...{ class: 'code', hint: ({ parent }) => visible(parent) },
    }),
    column<ExecutorProcesses>('Pools', ({ pools }) => pools.map((pool) => visible(pool)).join(', ')),
    numeric<ExecutorProcesses>('Running', ({ running }) => count(running)),
    numeric<ExecutorProcesses>('Wanted', ({ wanted }) => count(wanted)),
    column<ExecutorProcesses>('Allowed', limitsWords),
    column<ExecutorProcesses>('Since', ({ since }) => <When at={since} />),
    column<ExecutorProcesses>('Why', (executor) => <Text of={processesWords(executor, value.value?.pools)} />),
  ]
  return (
    <>
      <h2>Executor processes</h2>
      <Table of="executor processes" columns={columns} rows={executors} keyOf={({ parent }) => parent} />
    </>
  )
}

/** Workers of the same process, which differ by their names only. */
const workersAt = ({ host, pid }: Worker, workers: readonly Worker[]): number =>
  workers.filter((other) => other.host === host && other.pid === pid).length

function columnsOf(workers: readonly Worker[], refresh: () => Promise<void>) {
  return [
    head<Worker>('Worker', (worker) => <WorkerName worker={worker} isOnly={workersAt(worker, workers) === 1} />, {
      ...{ class: 'code', hint: ({ instance }) => visible(instance) },
    }),
    column<Worker>('Connected', connectedText),
    column<Worker>('Pools', ({ pools }) =>
      pools.length === 0 ? '—' : <Names title={pools.map(({ pool }) => pool).join(', ')} names={handlersOf(pools)} />,
    ),
    numeric<Worker>('Runs', ({ running }) => count(running)),
    numeric<Worker>('Slots', ({ pools }) => count(pools.reduce((sum, pool) => sum + (pool.slots ?? 0), 0)).replace(/^0$/, '—')),
    column<Worker>('Last report', ({ lastHeardAt }) =>
      lastHeardAt === null ? <span class="none">no report yet</span> : <When at={lastHeardAt} />,
    ),
    column<Worker>(
      'Current runs',
      ({ runIds, running }) => (
        <>
          {runIds.length === 0 ? '—' : runIds.slice(0, runsNamed).map((runId) => <Run key={runId} runId={runId} />)}
          {running > runsNamed && <span class="aside">and {count(running - runsNamed)} more</span>}
        </>
      ),
      { class: 'code' },
    ),
    column<Worker>('State', ({ state, stateSince }) => <PauseState state={state} since={stateSince} />),
    mayOperate.value &&
      column<Worker>('Actions', ({ instance, state }) => (
        <PauseButtons
          of={`the worker ${visible(instance)}`}
          state={state}
          change={(word) => changeWorker(instance, word)}
          changed={refresh}
        />
      )),
  ]
}

function WorkerName({ worker: { instance, name, host, pid, version }, isOnly }: { worker: Worker; isOnly: boolean }) {
  return (
    <>
      <Text of={host === null || !isOnly ? instance : `${host}:${pid}`} />
      {(name !== null || version !== null) && (
        <span class="tags">
          <Text of={[name, version].filter((part) => part !== null).join(' ')} />
        </span>
      )}
    </>
  )
}

function connectedText({ connected, state }: Worker) {
  if (connected) return <span class="status good">yes</span>
  if (state !== 'ACTIVE') return <span class="status">no, it is {state === 'PAUSED' ? 'paused' : 'drained'}</span>
  return <span class="status bad">no, but has an open run</span>
}

const runsNamed = 4

/** Its handlers, with the pools of those that it does not have in all. */
function handlersOf(pools: Worker['pools']): string[] {
  const found = new Map<string, string[]>()
  for (const { pool, handlers } of pools)
    for (const name of handlers ?? ['handlers unknown']) found.set(name, [...(found.get(name) ?? []), pool])
  return Array.from(found, ([name, of]) => (of.length === pools.length ? name : `${name} (${of.join(', ')})`))
}

function Run({ runId }: { runId: string }) {
  const at = runId.lastIndexOf('/')
  return (
    <span class="line">
      <RunLink jobId={runId.slice(0, at)} runNo={Number(runId.slice(at + 1))} named />
    </span>
  )
}

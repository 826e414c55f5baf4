/** The workers of all pools: their hosts, their runs and their last reports. */
import {
  ask,
  changeWorker,
  count,
  type ExecutorProcesses,
  limitsWords,
  mayOperate,
  type Pool,
  processesWords,
  useResource,
  visible,
  type Worker,
} from '../model/index.ts'
import { Empty, Heading, Loading, Names, PauseButtons, PauseState, Problem, RunLink, Table, Text, When } from '../parts/index.ts'

interface Workers {
  workers: Worker[]
  /** Absent: the server has an earlier version. */
  executors?: ExecutorProcesses[]
}

export function WorkersView() {
  const resource = useResource('workers', (signal) => ask<Workers>('/v1/workers', { signal }))
  const { value, problem } = resource
  const workers = value.value?.workers
  const executors = value.value?.executors ?? []
  return (
    <>
      <Heading title="Workers" />
      <Problem problem={problem.value} known={workers !== undefined} />
      {workers === undefined && problem.value === undefined && <Loading what="workers" />}
      {workers?.length === 0 && (
        <Empty>
          No workers are connected. Due runs are dispatched and wait. Start a process with the executor role, or your own worker.
        </Empty>
      )}
      {workers !== undefined && workers.length > 0 && (
        <Table
          of="workers"
          columns={[
            'Worker',
            'Connected',
            'Pools',
            { title: 'Runs', number: true },
            { title: 'Slots', number: true },
            'Last report',
            'Current runs',
            'State',
            mayOperate.value && 'Actions',
          ]}
        >
          {workers.map((worker) => (
            <Row
              key={worker.instance}
              worker={worker}
              isOnly={workersAt(worker, workers) === 1}
              refresh={() => resource.refresh()}
            />
          ))}
        </Table>
      )}
      {executors.length > 0 && <Executors executors={executors} />}
    </>
  )
}

/** What started the workers that are executor processes, how many it keeps, and why. */
function Executors({ executors }: { executors: ExecutorProcesses[] }) {
  const { value } = useResource('pools', (signal) => ask<{ pools: Pool[] }>('/v1/pools', { signal }))
  return (
    <>
      <h2>Executor processes</h2>
      <Table
        of="executor processes"
        columns={[
          'Started by',
          'Pools',
          { title: 'Running', number: true },
          { title: 'Wanted', number: true },
          'Allowed',
          'Since',
          'Why',
        ]}
      >
        {executors.map((executor) => {
          const { parent, host, pid, pools, running, wanted, since } = executor
          return (
            <tr key={parent}>
              <th scope="row" class="code" title={visible(parent)}>
                <Text of={host === null ? parent : `${host}:${pid}`} />
              </th>
              <td>{pools.map((pool) => visible(pool)).join(', ')}</td>
              <td class="number">{count(running)}</td>
              <td class="number">{count(wanted)}</td>
              <td>{limitsWords(executor)}</td>
              <td>
                <When at={since} />
              </td>
              <td>
                <Text of={processesWords(executor, value.value?.pools)} />
              </td>
            </tr>
          )
        })}
      </Table>
    </>
  )
}

/** Workers of the same process, which differ by their names only. */
const workersAt = ({ host, pid }: Worker, workers: readonly Worker[]): number =>
  workers.filter((other) => other.host === host && other.pid === pid).length

function Row({ worker, isOnly, refresh }: { worker: Worker; isOnly: boolean; refresh: () => Promise<void> }) {
  const { instance, name, host, pid, version, pools, running, runIds, lastHeardAt } = worker
  const { state, stateSince } = worker
  const slots = pools.reduce((sum, pool) => sum + (pool.slots ?? 0), 0)
  return (
    <tr>
      <th scope="row" class="code" title={visible(instance)}>
        <Text of={host === null || !isOnly ? instance : `${host}:${pid}`} />
        {(name !== null || version !== null) && (
          <span class="tags">
            <Text of={[name, version].filter((part) => part !== null).join(' ')} />
          </span>
        )}
      </th>
      <td>{connectedText(worker)}</td>
      <td>{pools.length === 0 ? '—' : <Names title={pools.map(({ pool }) => pool).join(', ')} names={handlersOf(pools)} />}</td>
      <td class="number">{count(running)}</td>
      <td class="number">{slots === 0 ? '—' : count(slots)}</td>
      <td>{lastHeardAt === null ? <span class="none">no report yet</span> : <When at={lastHeardAt} />}</td>
      <td class="code">
        {runIds.length === 0 ? '—' : runIds.slice(0, runsNamed).map((runId) => <Run key={runId} runId={runId} />)}
        {running > runsNamed && <span class="aside">and {count(running - runsNamed)} more</span>}
      </td>
      <td>
        <PauseState state={state} since={stateSince} />
      </td>
      {mayOperate.value && (
        <td>
          <PauseButtons
            of={`the worker ${visible(instance)}`}
            state={state}
            change={async (word) => {
              if (await changeWorker(instance, word)) await refresh()
            }}
          />
        </td>
      )}
    </tr>
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

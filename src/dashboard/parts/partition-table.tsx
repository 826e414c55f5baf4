/** Table of partitions: owner, phase and backlog. */
import { count, duration, type OwnerState } from '../model/index.ts'
import { Order } from './order.tsx'
import { Status } from './status.tsx'
import { Table } from './table.tsx'

const phaseWords = {
  active: '',
  restoring: 'reading its changelog',
  following: 'keeping a copy',
  claiming: 'taking over',
  closed: 'nothing fires',
} as const

const columns = [
  { title: 'Partition', number: true },
  'Phase',
  'Owner',
  'Zone rules',
  { title: 'To restore', number: true },
  { title: 'Unprocessed', number: true },
  { title: 'Dispatched', number: true },
  { title: 'Running', number: true },
  { title: 'Waiting', number: true },
  { title: 'Overdue by', number: true },
  { title: 'Late by', number: true },
]

const orders = [
  ['', 'by number'],
  ['late', 'latest starts first'],
  ['overdue', 'most overdue first'],
  ['unprocessed', 'most unprocessed first'],
  ['waiting', 'most waiting first'],
] as const

const sizes: Record<string, (state: OwnerState) => number> = {
  late: ({ lateness }) => lateness?.p99Ms ?? -1,
  overdue: ({ overdueMs }) => overdueMs,
  unprocessed: ({ mailboxDepth }) => mailboxDepth,
  waiting: ({ underWay }) => underWay.waiting,
}

export function PartitionTable({ partitions, query }: { partitions: readonly OwnerState[]; query: URLSearchParams }) {
  const size = sizes[query.get('order') ?? '']
  const shown = size === undefined ? partitions : partitions.toSorted((a, b) => size(b) - size(a))
  return (
    <>
      <Order href="/" query={query} orders={orders} of="Partitions" />
      <Table of="partitions" columns={columns}>
        {shown.map((state) => (
          <Row key={state.partition} {...state} />
        ))}
      </Table>
    </>
  )
}

function Row(state: OwnerState) {
  const {
    partition,
    phase,
    problem,
    instance,
    restoreRemaining,
    mailboxDepth,
    restoreTotal,
    underWay,
    overdueMs,
    lateness,
    zoneRules,
    zoneWalk,
  } = state
  return (
    <tr>
      <th scope="row" class="number">
        {partition}
      </th>
      <td>
        <Status of={phase} /> <span class="aside">{problem == null ? phaseWords[phase] : 'stopped: its clock is wrong'}</span>
      </td>
      <td>
        {instance === null ? (
          <span class="aside">{phase === 'closed' ? '—' : 'this process'}</span>
        ) : (
          <span class="code">{instance}</span>
        )}
      </td>
      <td>
        {zoneRules ?? <span class="aside">—</span>}
        {zoneWalk != null && (
          <span class="aside">
            {' '}
            new: {count(zoneWalk.checked)} jobs checked, {count(zoneWalk.moved)} moved
          </span>
        )}
      </td>
      <td class="number">
        {restoreRemaining === 0 ? '—' : count(restoreRemaining)}
        {restoreRemaining > 0 && restoreTotal > 0 && (
          <progress max={restoreTotal} value={restoreTotal - restoreRemaining} aria-label={`Restore of partition ${partition}`} />
        )}
      </td>
      <td class="number">{count(mailboxDepth)}</td>
      <td class="number">{count(underWay.dispatched)}</td>
      <td class="number">{count(underWay.running)}</td>
      <td class="number">{count(underWay.waiting)}</td>
      <td class="number">{overdueMs === 0 ? '—' : duration(overdueMs)}</td>
      <td class="number">
        {lateness == null ? '—' : duration(lateness.p50Ms)}
        {lateness != null && <span class="aside">at most {duration(lateness.maxMs)}</span>}
      </td>
    </tr>
  )
}

/** Table of partitions: owner, phase and backlog. */
import { count, duration, type OwnerState } from '../model/index.ts'
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
]

export function PartitionTable({ partitions }: { partitions: readonly OwnerState[] }) {
  return (
    <Table of="partitions" columns={columns}>
      {partitions.map((state) => (
        <Row key={state.partition} {...state} />
      ))}
    </Table>
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
    </tr>
  )
}

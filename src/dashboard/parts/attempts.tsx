/** The attempts of a run: times, worker and error of each, with bars on one time scale. */
import { type Attempt, attemptsOf, duration, nowMs, type RunDetail, visible } from '../model/index.ts'
import { Status } from './status.tsx'
import { Table } from './table.tsx'
import { ClampedText, Text } from './text.tsx'
import { When } from './when.tsx'

export function Attempts({ run }: { run: RunDetail }) {
  const attempts = attemptsOf(run, nowMs.value)
  const first = attempts[0]?.attempt ?? 1
  const from = Math.min(...attempts.map(({ fromMs }) => fromMs))
  const to = Math.max(from + 1, ...attempts.map(({ toMs }) => toMs))
  return (
    <>
      <Table
        of="attempts"
        columns={[
          { title: 'Attempt', number: true },
          'Outcome',
          'Due',
          'Dispatched',
          'Started',
          'Ended',
          { title: 'Late by', number: true },
          { title: 'Duration', number: true },
          'Worker',
        ]}
        class="attempts"
      >
        {attempts.map((attempt) => (
          <Row key={attempt.attempt} attempt={attempt} day={new Date(from).toISOString()} from={from} to={to} />
        ))}
      </Table>
      <p class="aside">
        From the first of these due times to the end: {duration(to - from)}.
        {attempts.some(({ parts }) => parts[0]?.kind === 'WAITING') && ' Amber in the bars: due and not started yet.'}
        {first > 1 && ` ${unlisted(first - 1)}`}
      </p>
    </>
  )
}

/** The errors of the oldest attempts are not kept, and an attempt that no handler began has none. */
function unlisted(last: number): string {
  if (last === 1) return 'Attempt 1 is not listed: no handler began it, or its error is no longer kept.'
  return `Attempts 1 to ${last} are not listed: no handler began them, or their errors are no longer kept.`
}

function Row({ attempt: shown, day, from, to }: { attempt: Attempt; day: string; from: number; to: number }) {
  const { attempt, outcome, dueAt, dispatchedAt, startedAt, endedAt, lateMs, durationMs, worker, error } = shown
  return (
    <>
      <tr>
        <th scope="row" class="number">
          {attempt}
        </th>
        <td>
          <Status of={outcome} />
        </td>
        <Time at={dueAt} day={day} />
        <Time at={dispatchedAt} day={day} />
        <Time at={startedAt} day={day} />
        <Time at={endedAt} day={day} />
        <td class="number">{lateMs === undefined ? '—' : duration(lateMs)}</td>
        <td class="number">{durationMs === undefined ? '—' : duration(durationMs)}</td>
        <td class="code">
          {worker ? (
            <a href="/workers" class="clip" title={visible(worker)}>
              <Text of={worker} />
            </a>
          ) : (
            '—'
          )}
        </td>
      </tr>
      <tr class="track-row">
        <td colSpan={9}>
          <Track attempt={shown} from={from} to={to} />
          {error !== undefined && (
            <p>
              <span class="code bad">
                <Text of={error.type} />
              </span>
              : <ClampedText of={error.message} />
            </p>
          )}
        </td>
      </tr>
    </>
  )
}

const Time = ({ at, day }: { at: string | null | undefined; day: string }) => (
  <td>
    <When at={at} plain onDayOf={day} />
  </td>
)

/** Smallest visible width, of 1000. */
const widthMin = 4

function Track({ attempt: { parts }, from, to }: { attempt: Attempt; from: number; to: number }) {
  const scale = 1_000 / (to - from)
  return (
    <svg class="track" viewBox="0 0 1000 8" preserveAspectRatio="none" aria-hidden="true">
      {parts.map(({ kind, fromMs, toMs }) => (
        <rect
          key={kind}
          class={`bar ${kind}`}
          x={Math.min((fromMs - from) * scale, 1_000 - widthMin)}
          y={0}
          height={8}
          width={Math.max((toMs - fromMs) * scale, widthMin)}
        >
          <title>{`${kind.toLowerCase()} ${duration(toMs - fromMs)}`}</title>
        </rect>
      ))}
    </svg>
  )
}

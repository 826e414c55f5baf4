/** Tables of runs and of the attempts of one: when they were due, how late they started, how long they took, and their errors. */
import {
  type Attempt,
  type AttemptError,
  attemptsOf,
  duration,
  failuresText,
  isActive,
  isStarted,
  lateMsOf,
  mayOperate,
  ms,
  nowMs,
  type Rows,
  type Run,
  type RunDetail,
  statusWord,
  visible,
  waitWords,
} from '../model/index.ts'
import { RunButtons } from './buttons.tsx'
import { Status } from './states.tsx'
import { column, head, numeric, Table } from './table.tsx'
import { Code, ErrorText, RunLink, Text, When } from './text.tsx'

interface RunTableProps {
  runs: readonly Run[]
  changed: () => Promise<void>
  /** Run numbers that can be redriven. */
  dead?: readonly number[]
  /** Shows the job in each row. */
  named?: boolean
  /** Of a list of active runs: they can be selected, and stay for a while when they are gone. */
  rows?: Rows<Run>
}

export function RunTable(props: RunTableProps) {
  const { runs, rows } = props
  return (
    <Table
      of="runs"
      columns={columnsOf(props)}
      rows={runs}
      keyOf={({ runId }) => runId}
      rowClass={(run) => (rows?.isGone(run) ? 'gone' : undefined)}
      class="runs"
    />
  )
}

function columnsOf({ changed, dead = [], named = false, rows }: RunTableProps) {
  const isGone = (run: Run): boolean => rows?.isGone(run) === true
  return [
    rows !== undefined &&
      mayOperate.value &&
      column<Run>(
        'Select',
        (run) => (
          <input
            type="checkbox"
            checked={rows.chosen.has(run.runId)}
            disabled={isGone(run)}
            aria-label={`Select run ${visible(run.runId)}`}
            onChange={(event) => rows.choose(run.runId, event.currentTarget.checked)}
          />
        ),
        { unseen: true, width: '28px' },
      ),
    head<Run>(
      'Run',
      ({ jobId, runNo, trigger }) => (
        <>
          <RunLink jobId={jobId} runNo={runNo} named={named} />
          {trigger !== 'SCHEDULE' && <span class="tags">{statusWord(trigger)}</span>}
        </>
      ),
      { class: 'code' },
    ),
    column<Run>('Status', (run) => <State run={run} gone={isGone(run)} />, { width: '26%' }),
    column<Run>(
      'Due',
      ({ status, dueAt, scheduledFor }) => <When at={status === 'RETRY_WAIT' ? (dueAt ?? scheduledFor) : scheduledFor} />,
      { width: '17%' },
    ),
    numeric<Run>('Late by', (run) => ms(lateMsOf(run)), { width: '80px' }),
    numeric<Run>('Duration', (run) => ms(isGone(run) ? undefined : tookMs(run)), { width: '80px' }),
    numeric<Run>('Attempts', ({ attempts }) => attempts, { width: '76px' }),
    column<Run>(
      'Worker',
      ({ worker }) => (
        <span class="clip" title={worker === null ? undefined : visible(worker)}>
          {worker === null ? '—' : <Text of={worker} />}
        </span>
      ),
      { class: 'code', width: '15%', wideOnly: true },
    ),
    mayOperate.value &&
      column<Run>(
        'Actions',
        (run) => (
          <div class="buttons tight">
            {!isGone(run) && <RunButtons run={run} redrivable={dead.includes(run.runNo)} changed={changed} />}
          </div>
        ),
        { unseen: true, width: '94px' },
      ),
  ]
}

/** Until now, if it runs. */
function tookMs(run: Run): number | undefined {
  const { startedAt, finishedAt } = run
  if (startedAt === null || (isActive(run) && !isStarted(run))) return undefined
  return Math.max(0, (finishedAt === null ? nowMs.value : Date.parse(finishedAt)) - Date.parse(startedAt))
}

function State({ run, gone }: { run: Run; gone: boolean }) {
  const waits = waitWords(run)
  return (
    <>
      <span class="clip" title={waits}>
        {gone ? <span class="status">no longer here</span> : <Status of={run.status} id={run.runId} />}{' '}
        <span class="brief">{gone ? '' : waits}</span>
      </span>
      {!gone && <RunProgress run={run} />}
      <AttemptErrors run={run} />
    </>
  )
}

/** Last progress that the handler of a run reported. */
export function RunProgress({ run: { runId, status, progress, message, checkedAt } }: { run: Run }) {
  if (status !== 'RUNNING' || (progress == null && message == null)) return null
  return (
    <span class="progress">
      {progress != null && <progress max={1} value={progress} aria-label={`Progress of run ${visible(runId)}`} />}
      {progress != null && <span class="number">{Math.round(progress * 100)} %</span>}
      {message != null && (
        <span class="aside clip" title={visible(message)}>
          <Text of={message} />
        </span>
      )}
      {checkedAt != null && (
        <span class="unseen">
          last report <When at={checkedAt} />
        </span>
      )}
    </span>
  )
}

export function Attempts({ run }: { run: RunDetail }) {
  const attempts = attemptsOf(run, nowMs.value)
  const first = attempts[0]?.attempt ?? 1
  const from = Math.min(...attempts.map(({ fromMs }) => fromMs))
  const to = Math.max(from + 1, ...attempts.map(({ toMs }) => toMs))
  return (
    <>
      <Table
        of="attempts"
        columns={attemptColumns(new Date(from).toISOString())}
        rows={attempts}
        keyOf={({ attempt }) => attempt}
        class="attempts"
        below={(attempt) => (
          <>
            <Track attempt={attempt} from={from} to={to} />
            {attempt.error !== undefined && <p>{<ErrorText of={attempt.error} class="bad" />}</p>}
          </>
        )}
      />
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

/** `day`: a time of the day that the times need not name. */
function attemptColumns(day: string) {
  const time = (title: string, of: (attempt: Attempt) => string | null | undefined) =>
    column<Attempt>(title, (attempt) => <When at={of(attempt)} plain onDayOf={day} />)
  return [
    head<Attempt>('Attempt', ({ attempt }) => attempt, { class: 'number' }),
    column<Attempt>('Outcome', ({ outcome }) => <Status of={outcome} />),
    time('Due', ({ dueAt }) => dueAt),
    time('Dispatched', ({ dispatchedAt }) => dispatchedAt),
    time('Started', ({ startedAt }) => startedAt),
    time('Ended', ({ endedAt }) => endedAt),
    numeric<Attempt>('Late by', ({ lateMs }) => ms(lateMs)),
    numeric<Attempt>('Duration', ({ durationMs }) => ms(durationMs)),
    column<Attempt>(
      'Worker',
      ({ worker }) =>
        worker ? (
          <a href="/workers" class="clip" title={visible(worker)}>
            <Text of={worker} />
          </a>
        ) : (
          '—'
        ),
      { class: 'code' },
    ),
  ]
}

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

export function AttemptErrors({ run, open = false }: { run: Run; open?: boolean }) {
  const errors: readonly AttemptError[] = run.errors
  const last = errors.at(-1)
  if (last === undefined) return null
  return (
    <details class="errors" open={open}>
      <summary>
        {failuresText(run)}: <Code of={last.type} />
      </summary>
      <ol>
        {errors.map(({ attempt, at, worker, ...error }) => (
          <li key={`${attempt} ${at}`}>
            <span class="aside">
              attempt {attempt}, <When at={at} plain />
              {worker && <> {<Code of={worker} />}</>}
            </span>
            <span>
              <ErrorText of={error} />
            </span>
          </li>
        ))}
      </ol>
    </details>
  )
}

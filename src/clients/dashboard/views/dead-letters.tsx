/** Dead letters, newest first: their errors in groups, their payloads, redriving and discarding them. */
import { useSignal } from '@preact/signals'
import {
  api,
  count,
  counted,
  type DeadLetterPage,
  hrefWith,
  mayOperate,
  operate,
  type Rows,
  type Run,
  redrive,
  setTo,
  targetWords,
  useResource,
  useRows,
  visible,
} from '../model/index.ts'
import {
  ActionButton,
  Answer,
  AttemptErrors,
  CheckBox,
  ClampedText,
  Empty,
  ErrorText,
  InputBlocks,
  isSearched,
  JobLink,
  ListView,
  OperationBar,
  RunLink,
  Text,
  When,
  wantedOf,
} from '../parts/index.ts'

const fields = [
  { name: 'tag', label: 'Tag' },
  { name: 'handler', label: 'Handler' },
  { name: 'idPrefix', label: 'ID begins with', code: true },
  { name: 'from', label: 'Died from', kind: 'time' },
  { name: 'to', label: 'Died before', kind: 'time' },
] as const
/** Dead runs of one page. */
const pageRuns = 100
/** Dead runs that one operation lists, and those of one request for them. */
const listedMax = 10_000
const listedAtOnce = 1_000

/** The filters of the address. The kind of error is chosen in the list of groups. */
const filterOf = (query: URLSearchParams): Record<string, string> => {
  const errorKind = query.get('error')
  return { ...wantedOf(fields, query), ...(errorKind && { errorKind }) }
}

export function DeadLettersView({ query }: { query: URLSearchParams }) {
  const cursor = query.get('cursor') ?? undefined
  const key = query.toString()
  const list = useResource(key, (signal) => api.listDeadLetters({ ...filterOf(query), limit: pageRuns, cursor, signal }))
  const { total = 0, dropped = 0 } = list.value.value ?? {}
  const isFiltered = isSearched(fields, query) || query.has('error')
  const none = isFiltered
    ? 'No dead letters match. Tags and handlers must match exactly.'
    : 'No dead letters. A run becomes one when its last attempt fails.'
  const beside = (
    <p class="beside">
      {count(total)} {isFiltered ? 'match' : 'in all'}, newest first.
      {dropped > 0 &&
        ` ${count(dropped)} older ${dropped === 1 ? 'one of these jobs is' : 'ones of these jobs are'} no longer kept and cannot be redriven.`}
    </p>
  )
  return (
    <ListView
      {...{ title: 'Dead letters', href: '/dead-letters', fields, query, of: list, what: 'dead letters' }}
      beside={total > 0 && beside}
      above={<OperationBar />}
      shownOf={({ runs }) => runs.length}
    >
      {(page) => (
        <>
          {page.runs.length === 0 && <Empty>{none}</Empty>}
          <Groups page={page} query={query} />
          {page.runs.length > 0 && <Letters key={key} page={page} query={query} refresh={() => list.refresh()} />}
        </>
      )}
    </ListView>
  )
}

function Groups({ page, query }: { page: DeadLetterPage; query: URLSearchParams }) {
  const chosen = query.get('error')
  const hrefOf = (kind: string | undefined): string => hrefWith('/dead-letters', query, { cursor: undefined, error: kind })
  if (page.kinds.length < 2 && chosen === null) return null
  // The rows of a chosen one follow at once.
  const shown = chosen === null ? page.kinds : page.kinds.filter(({ kind }) => kind === chosen)
  const others = page.total - page.kinds.reduce((sum, each) => sum + each.count, 0)
  return (
    <section aria-labelledby="groups">
      <h2 id="groups">By error</h2>
      <ul class="groups">
        {shown.map(({ kind, type, message, count: many }) => (
          <li key={kind}>
            <span class="number">{count(many)}</span>
            <span class="code">
              {kind === '' ? (
                'error not kept'
              ) : (
                <a href={hrefOf(chosen === kind ? undefined : kind)} aria-current={chosen === kind ? 'true' : undefined}>
                  <Text of={type} />
                </a>
              )}
            </span>
            <span class="message">
              <ClampedText of={message} />
            </span>
          </li>
        ))}
      </ul>
      {chosen === null && others > 0 && <p class="aside">{count(others)} with other errors.</p>}
      {chosen !== null && <a href={hrefOf(undefined)}>All errors</a>}
    </section>
  )
}

function Letters({ page, query, refresh }: { page: DeadLetterPage; query: URLSearchParams; refresh: () => Promise<void> }) {
  const rows = useRows(page.runs, ({ runId }) => runId, refresh)
  return (
    <>
      {mayOperate.value && <Bulk {...{ page, query, rows }} />}
      <ul class="letters" {...rows.hover}>
        {rows.shown.map((run) => (
          <DeadLetter key={run.runId} run={run} rows={rows} />
        ))}
      </ul>
    </>
  )
}

function Bulk({ page: { runs, total }, query, rows }: { page: DeadLetterPage; query: URLSearchParams; rows: Rows<Run> }) {
  const { selected, chooseAll, changed } = rows
  const first = useSignal<number | undefined>(undefined)
  const filter = filterOf(query)
  const act = (action: 'REDRIVE' | 'DISCARD', of: () => Promise<{ filter: object } | { runIds: string[] }>) => async () => {
    if (await operate({ action, ...(await of()) })) chooseAll(false)
    await changed()
  }
  const some = async () => ({ runIds: selected.map(({ runId }) => runId) })
  const many = Math.min(first.value ?? total, total)
  const all = async () => (first.value === undefined ? { filter } : { runIds: await newest(filter, many) })
  const which = `${first.value === undefined ? 'all' : 'newest'}${Object.keys(filter).length > 0 ? ' matching' : ''} (${count(many)})`
  return (
    <div class="buttons letters-bulk">
      <CheckBox checked={selected.length === runs.length} set={chooseAll}>
        Select all {count(runs.length)}
      </CheckBox>
      <ActionButton disabled={selected.length === 0} run={act('REDRIVE', some)}>
        Redrive selected ({count(selected.length)})
      </ActionButton>
      <ActionButton class="risky" disabled={selected.length === 0} run={act('DISCARD', some)}>
        Discard selected ({count(selected.length)})
      </ActionButton>
      <label>
        Newest{' '}
        <input
          type="number"
          min={1}
          max={Math.min(total, listedMax)}
          placeholder="all"
          onInput={({ currentTarget: { valueAsNumber } }) => {
            first.value = valueAsNumber >= 1 ? Math.min(Math.floor(valueAsNumber), listedMax) : undefined
          }}
        />
      </label>
      <ActionButton run={act('REDRIVE', all)}>Redrive {which}</ActionButton>
      <ActionButton class="risky" run={act('DISCARD', all)}>
        Discard {which}
      </ActionButton>
    </div>
  )
}

async function newest(filter: Record<string, string>, many: number): Promise<string[]> {
  const runIds: string[] = []
  let cursor: string | undefined
  do {
    const limit = Math.min(many - runIds.length, listedAtOnce)
    const page: DeadLetterPage = await api.listDeadLetters({ ...filter, limit, cursor })
    runIds.push(...page.runs.map(({ runId }) => runId))
    cursor = page.cursor ?? undefined
  } while (cursor !== undefined && runIds.length < many)
  return runIds
}

/** One dead letter. Its details are loaded when it is opened. */
function DeadLetter({ run, rows: { chosen, choose, changed } }: { run: Run; rows: Rows<Run> }) {
  const { runId, runNo, jobId, finishedAt, attempts, errors } = run
  const open = useSignal(false)
  const last = errors.at(-1)
  return (
    <li class="letter">
      {mayOperate.value && (
        <input
          type="checkbox"
          checked={chosen.has(runId)}
          aria-label={`Select run ${visible(runId)}`}
          onClick={(event) => choose(runId, event.currentTarget.checked, event.shiftKey)}
        />
      )}
      <div class="letter-text">
        <p class="letter-head">
          <JobLink id={jobId} /> run <RunLink jobId={jobId} runNo={runNo} />
          <span class="aside">
            failed {finishedAt !== null && <When at={finishedAt} plain />} after {counted(attempts, 'attempt')}
          </span>
        </p>
        {last !== undefined && <p>{<ErrorText of={last} class="bad" />}</p>}
        <details onToggle={({ currentTarget }) => setTo(open, currentTarget.open)}>
          <summary>Errors and payload</summary>
          {open.value && <Details run={run} />}
        </details>
      </div>
      {mayOperate.value && (
        <div class="buttons tight">
          <ActionButton label={`Redrive run ${visible(runId)}`} run={() => redrive(run).then(changed)}>
            Redrive
          </ActionButton>
          <ActionButton
            class="risky"
            label={`Discard run ${visible(runId)}`}
            run={() => operate({ action: 'DISCARD', runIds: [runId] }).then(changed)}
          >
            Discard
          </ActionButton>
        </div>
      )}
    </li>
  )
}

/** The run's own payload and target, which a redrive uses again; the job's definition may have changed since. */
function Details({ run }: { run: Run }) {
  const { jobId, runNo, runId, errors, attempts, scheduledFor } = run
  const letter = useResource(runId, (signal) => api.getDeadLetter({ jobId, runNo, signal }), false)
  return (
    <div class="inside">
      <AttemptErrors run={run} open />
      {errors.length < attempts && (
        <p class="aside">
          {errors.length > 0
            ? `Showing errors of the last ${errors.length} of ${counted(attempts, 'attempt')}; earlier errors are in the topic execution-events.`
            : 'Its errors are in the topic executions.dlq.'}
        </p>
      )}
      <Answer of={letter} what="the payload">
        {({ execution }) => (
          <>
            <p class="aside">
              Scheduled for <When at={scheduledFor} plain />; target <Text of={targetWords(execution.target)} />; definition at
              offset {execution.specOffset}
              {execution.contentType !== undefined && (
                <>
                  ; <Text of={execution.contentType} />
                </>
              )}
              . Payload of this run:
            </p>
            <InputBlocks runId={runId} input={execution} />
          </>
        )}
      </Answer>
    </div>
  )
}

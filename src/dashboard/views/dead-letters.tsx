/** Dead letters, newest first: their errors in groups, their payloads, redriving and discarding them. */
import { useSignal } from '@preact/signals'
import {
  ask,
  count,
  endMsOf,
  errorGroupsOf,
  errorKeyOf,
  latest,
  mayOperate,
  operate,
  path,
  type Run,
  type RunPage,
  standingOf,
  useHeld,
  useResource,
} from '../model/index.ts'
import {
  ActionButton,
  CheckBox,
  ClampedText,
  DeadLetter,
  Empty,
  Heading,
  isSearched,
  Loading,
  OperationBar,
  Pages,
  Problem,
  SearchForm,
  Text,
  wantedOf,
} from '../parts/index.ts'

const serverFields = [
  { name: 'tag', label: 'Tag' },
  { name: 'handler', label: 'Handler' },
] as const
const fields = [
  ...serverFields,
  { name: 'from', label: 'Died from', kind: 'time' },
  { name: 'to', label: 'Died before', kind: 'time' },
] as const
const jobsPerRequest = 500
/** Dead runs that one page loads, sorts and groups. */
const loadedMax = 2_000
/** Maximum of requests for one page: most answers may be empty when few jobs have dead letters. */
const requestsMax = 20
/** Dead runs that are shown at once. */
const shownStep = 100

export function DeadLettersView({ query }: { query: URLSearchParams }) {
  const server = new URLSearchParams([...query].filter(([name]) => name === 'tag' || name === 'handler' || name === 'cursor'))
  const list = useResource(server.toString(), (signal) => pageOf(server, signal))
  const { value, problem } = list
  const page = value.value
  const inTime = (page?.runs ?? []).filter((run) => isInTime(run, query))
  const error = query.get('error')
  const runs = error === null ? inTime : inTime.filter((run) => errorKeyOf(run) === error)
  const changed = (): Promise<void> => list.refresh()
  return (
    <>
      <Heading title="Dead letters">
        <Total loaded={page?.runs.length} whole={page?.cursor === null && !query.has('cursor')} />
      </Heading>
      <OperationBar />
      <SearchForm key={query.toString()} label="Dead letters" href="/dead-letters" fields={fields} query={query} />
      <Problem problem={problem.value} known={page !== undefined} />
      {page === undefined && problem.value === undefined && <Loading what="dead letters" />}
      {page !== undefined && runs.length === 0 && page.cursor === null && (
        <Empty>
          {isSearched(fields, query) || error !== null
            ? 'No dead letters match. Tags and handlers must match exactly.'
            : 'No dead letters. A run becomes one when its last attempt fails.'}
        </Empty>
      )}
      {inTime.length > 0 && <Groups runs={inTime} query={query} />}
      {runs.length > 0 && (
        <Letters key={query.toString()} runs={runs} query={query} whole={page?.cursor === null} changed={changed} />
      )}
      {page !== undefined && <Pages href="/dead-letters" query={query} cursor={page.cursor} shown={runs.length} />}
    </>
  )
}

/** All dead letters of the system, as its owners count them. `whole`: all that match tag and handler are loaded. */
function Total({ loaded, whole }: { loaded: number | undefined; whole: boolean }) {
  if (latest.value === undefined || loaded === undefined) return null
  const { deadRuns: all, missing } = standingOf(latest.value)
  if (missing > 0) return null
  return (
    <p class="beside">
      {count(all)} in all
      {loaded < all &&
        (whole ? `; ${count(loaded)} of the filter` : `; the first ${count(loaded)} by job are loaded, newest first`)}
      .
    </p>
  )
}

function isInTime(run: Run, query: URLSearchParams): boolean {
  const [from, to] = [Date.parse(query.get('from') ?? ''), Date.parse(query.get('to') ?? '')]
  const at = endMsOf(run)
  return !(at < from) && !(at >= to)
}

async function pageOf(query: URLSearchParams, signal: AbortSignal): Promise<RunPage> {
  let cursor = query.get('cursor') ?? undefined
  const wanted = wantedOf(serverFields, query)
  const runs: Run[] = []
  for (let requests = 1; ; requests++) {
    const page = await ask<RunPage>(path(['dead-letters'], { ...wanted, limit: jobsPerRequest, cursor }), { signal })
    runs.push(...page.runs)
    if (page.cursor === null || runs.length >= loadedMax || requests === requestsMax)
      return { ...page, runs: runs.sort((a, b) => endMsOf(b) - endMsOf(a)) }
    cursor = page.cursor
  }
}

function Groups({ runs, query }: { runs: readonly Run[]; query: URLSearchParams }) {
  const groups = errorGroupsOf(runs)
  const chosen = query.get('error')
  const hrefOf = (key: string | null): string => {
    const other = new URLSearchParams(query)
    if (key === null) other.delete('error')
    else other.set('error', key)
    return other.size === 0 ? '/dead-letters' : `/dead-letters?${other}`
  }
  if (groups.length < 2 && chosen === null) return null
  return (
    <section aria-labelledby="groups">
      <h2 id="groups">By error</h2>
      <ul class="groups">
        {groups.slice(0, 20).map(({ key, type, message, count: many }) => (
          <li key={key}>
            <span class="number">{count(many)}</span>
            <a href={hrefOf(chosen === key ? null : key)} aria-current={chosen === key ? 'true' : undefined}>
              <span class="code">
                <Text of={type === '' ? 'error not kept' : type} />
              </span>
            </a>
            <span class="message">
              <ClampedText of={message} />
            </span>
          </li>
        ))}
      </ul>
      {groups.length > 20 && <p class="aside">{count(groups.length - 20)} more kinds of errors.</p>}
      {chosen !== null && <a href={hrefOf(null)}>All errors</a>}
    </section>
  )
}

interface LettersProps {
  runs: readonly Run[]
  query: URLSearchParams
  /** Whether all dead runs of the filter are loaded. */
  whole: boolean
  changed: () => Promise<void>
}

function Letters({ runs, query, whole, changed }: LettersProps) {
  const chosen = useSignal<ReadonlySet<string>>(new Set())
  const limit = useSignal(shownStep)
  const held = useHeld(runs.slice(0, limit.value), ({ runId }) => runId)
  const selected = runs.filter(({ runId }) => chosen.value.has(runId))
  const choose = (runId: string, wanted: boolean): void => {
    const next = new Set(chosen.value)
    if (wanted) next.add(runId)
    else next.delete(runId)
    chosen.value = next
  }
  return (
    <>
      {mayOperate.value && (
        <Bulk
          {...{ runs, selected, query, whole }}
          changed={() => held.releaseAfter(changed())}
          chooseAll={(all) => {
            chosen.value = new Set(all ? runs.map(({ runId }) => runId) : [])
          }}
        />
      )}
      <ul class="letters" {...held.hover}>
        {held.items.map((run) => (
          <DeadLetter
            key={run.runId}
            run={run}
            chosen={chosen.value.has(run.runId)}
            choose={(wanted) => choose(run.runId, wanted)}
            changed={() => held.releaseAfter(changed())}
          />
        ))}
      </ul>
      {runs.length > limit.value && (
        <button
          type="button"
          onClick={() => {
            limit.value += shownStep
          }}
        >
          Show {count(Math.min(shownStep, runs.length - limit.value))} more of {count(runs.length)}
        </button>
      )}
    </>
  )
}

interface BulkProps extends LettersProps {
  selected: readonly Run[]
  chooseAll: (all: boolean) => void
}

function Bulk({ runs, selected, query, whole, changed, chooseAll }: BulkProps) {
  const filter = wantedOf(serverFields, query)
  // Errors and times are filtered on this page, so the server gets a list of these runs.
  const narrowed = query.has('error') || query.has('from') || query.has('to')
  const of = (some: readonly Run[]) => ({ runIds: some.map(({ runId }) => runId) })
  const all = narrowed ? of(runs) : { filter }
  const title = narrowed || whole ? ` (${count(runs.length)})` : ''
  const act = (action: 'REDRIVE' | 'DISCARD', target: typeof all) => () =>
    operate({ action, ...target }).then((begun) => {
      if (begun) chooseAll(false)
      return changed()
    })
  return (
    <div class="buttons letters-bulk">
      <CheckBox checked={selected.length === runs.length} set={chooseAll}>
        Select all {count(runs.length)}
      </CheckBox>
      <ActionButton disabled={selected.length === 0} run={act('REDRIVE', of(selected))}>
        Redrive selected ({count(selected.length)})
      </ActionButton>
      <ActionButton class="risky" disabled={selected.length === 0} run={act('DISCARD', of(selected))}>
        Discard selected ({count(selected.length)})
      </ActionButton>
      <ActionButton run={act('REDRIVE', all)}>
        Redrive all{isSearched(fields, query) || narrowed ? ' matching' : ''}
        {title}
      </ActionButton>
      <ActionButton class="risky" run={act('DISCARD', all)}>
        Discard all{isSearched(fields, query) || narrowed ? ' matching' : ''}
        {title}
      </ActionButton>
    </div>
  )
}

/** Dead letters, newest first: their errors in groups, their payloads, redriving and discarding them. */
import { useSignal } from '@preact/signals'
import { ask, count, type DeadLetterPage, mayOperate, operate, path, type Run, useHeld, useResource } from '../model/index.ts'
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
  const list = useResource(query.toString(), (signal) =>
    ask<DeadLetterPage>(path(['dead-letters'], { ...filterOf(query), limit: pageRuns, cursor }), { signal }),
  )
  const { value, problem } = list
  const page = value.value
  const isFiltered = isSearched(fields, query) || query.has('error')
  return (
    <>
      <Heading title="Dead letters">
        {page !== undefined && page.total > 0 && (
          <p class="beside">
            {count(page.total)} {isFiltered ? 'match' : 'in all'}, newest first.
            {page.dropped > 0 &&
              ` ${count(page.dropped)} older ${page.dropped === 1 ? 'one of these jobs is' : 'ones of these jobs are'} no longer kept and cannot be redriven.`}
          </p>
        )}
      </Heading>
      <OperationBar />
      <SearchForm key={query.toString()} label="Dead letters" href="/dead-letters" fields={fields} query={query} />
      <Problem problem={problem.value} known={page !== undefined} />
      {page === undefined && problem.value === undefined && <Loading what="dead letters" />}
      {page !== undefined && page.runs.length === 0 && (
        <Empty>
          {isFiltered
            ? 'No dead letters match. Tags and handlers must match exactly.'
            : 'No dead letters. A run becomes one when its last attempt fails.'}
        </Empty>
      )}
      {page !== undefined && <Groups page={page} query={query} />}
      {page !== undefined && page.runs.length > 0 && (
        <Letters key={query.toString()} page={page} query={query} changed={() => list.refresh()} />
      )}
      {page !== undefined && <Pages href="/dead-letters" query={query} cursor={page.cursor} shown={page.runs.length} />}
    </>
  )
}

function Groups({ page, query }: { page: DeadLetterPage; query: URLSearchParams }) {
  const chosen = query.get('error')
  const hrefOf = (kind: string | null): string => {
    const other = new URLSearchParams(query)
    other.delete('cursor')
    if (kind === null) other.delete('error')
    else other.set('error', kind)
    return other.size === 0 ? '/dead-letters' : `/dead-letters?${other}`
  }
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
                <a href={hrefOf(chosen === kind ? null : kind)} aria-current={chosen === kind ? 'true' : undefined}>
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
      {chosen !== null && <a href={hrefOf(null)}>All errors</a>}
    </section>
  )
}

interface LettersProps {
  page: DeadLetterPage
  query: URLSearchParams
  changed: () => Promise<void>
}

function Letters({ page, query, changed }: LettersProps) {
  const { runs } = page
  const chosen = useSignal<ReadonlySet<string>>(new Set())
  const lastClicked = useSignal<string | undefined>(undefined)
  const held = useHeld(runs, ({ runId }) => runId)
  const selected = runs.filter(({ runId }) => chosen.value.has(runId))
  /** With the shift key: all from the one that was clicked before. */
  const choose = (runId: string, wanted: boolean, toHere: boolean): void => {
    const ids = held.items.map((run) => run.runId)
    const [from, to] = [ids.indexOf(toHere ? (lastClicked.value ?? runId) : runId), ids.indexOf(runId)]
    const next = new Set(chosen.value)
    for (const id of from < 0 ? [runId] : ids.slice(Math.min(from, to), Math.max(from, to) + 1)) {
      if (wanted) next.add(id)
      else next.delete(id)
    }
    chosen.value = next
    lastClicked.value = runId
  }
  return (
    <>
      {mayOperate.value && (
        <Bulk
          {...{ page, selected, query }}
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
            choose={(wanted, toHere) => choose(run.runId, wanted, toHere)}
            changed={() => held.releaseAfter(changed())}
          />
        ))}
      </ul>
    </>
  )
}

interface BulkProps extends LettersProps {
  selected: readonly Run[]
  chooseAll: (all: boolean) => void
}

function Bulk({ page, selected, query, changed, chooseAll }: BulkProps) {
  const { runs, total } = page
  const first = useSignal<number | undefined>(undefined)
  const filter = filterOf(query)
  const act = (action: 'REDRIVE' | 'DISCARD', of: () => Promise<{ filter: object } | { runIds: string[] }>) => () =>
    of()
      .then((target) => operate({ action, ...target }))
      .then((begun) => {
        if (begun) chooseAll(false)
        return changed()
      })
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
    const page: DeadLetterPage = await ask<DeadLetterPage>(path(['dead-letters'], { ...filter, limit, cursor }))
    runIds.push(...page.runs.map(({ runId }) => runId))
    cursor = page.cursor ?? undefined
  } while (cursor !== undefined && runIds.length < many)
  return runIds
}

/** Dead letters: their errors, their payloads, and redriving them. */
import { useSignal } from '@preact/signals'
import {
  act,
  ask,
  type CommandResult,
  confirmed,
  count,
  counted,
  mayOperate,
  path,
  type Run,
  type RunPage,
  say,
  useResource,
} from '../model/index.ts'
import { DeadLetter, Empty, Heading, isSearched, Loading, Pages, Problem, SearchForm, wantedOf } from '../parts/index.ts'

const fields = [
  { name: 'tag', label: 'Tag' },
  { name: 'handler', label: 'Handler' },
] as const
const jobsPerPage = 50
/** Maximum of requests for one page: most answers may be empty when few jobs have dead letters. */
const requestsMax = 20

export function DeadLettersView({ query }: { query: URLSearchParams }) {
  const key = query.toString()
  const list = useResource(key, (signal) => pageOf(query, signal))
  const chosen = useSignal<ReadonlySet<string>>(new Set())
  const { value, problem } = list
  const page = value.value
  const runs = page?.runs ?? []
  const selected = runs.filter(({ runId }) => chosen.value.has(runId))
  const choose = (runId: string, wanted: boolean): void => {
    const next = new Set(chosen.value)
    if (wanted) next.add(runId)
    else next.delete(runId)
    chosen.value = next
  }
  return (
    <>
      <Heading title="Dead letters" />
      <SearchForm key={key} label="Dead letters" href="/dead-letters" fields={fields} query={query} />
      <Problem problem={problem.value} known={page !== undefined} />
      {page === undefined && problem.value === undefined && <Loading what="dead letters" />}
      {page !== undefined && runs.length === 0 && page.cursor === null && (
        <Empty>
          {isSearched(fields, query)
            ? 'No dead letters match. Tags and handlers must match exactly.'
            : 'No dead letters. A run becomes one when its last attempt fails.'}
        </Empty>
      )}
      {runs.length > 0 && mayOperate.value && (
        <div class="buttons">
          <button
            type="button"
            disabled={selected.length === 0}
            onClick={() => void redriveAll(selected).then(() => list.refresh())}
          >
            Redrive selected ({selected.length})
          </button>
          <button type="button" onClick={() => void redriveFiltered(query).then(() => list.refresh())}>
            Redrive all {isSearched(fields, query) ? 'matching' : ''}
          </button>
        </div>
      )}
      <ul class="letters">
        {runs.map((run) => (
          <DeadLetter
            key={run.runId}
            run={run}
            chosen={chosen.value.has(run.runId)}
            choose={(wanted) => choose(run.runId, wanted)}
            changed={() => list.refresh()}
          />
        ))}
      </ul>
      {page !== undefined && <Pages href="/dead-letters" query={query} cursor={page.cursor} shown={runs.length} />}
    </>
  )
}

async function pageOf(query: URLSearchParams, signal: AbortSignal): Promise<RunPage> {
  let cursor = query.get('cursor') ?? undefined
  const wanted = wantedOf(fields, query)
  for (let requests = 0; ; requests++) {
    const page = await ask<RunPage>(path(['dead-letters'], { ...wanted, limit: jobsPerPage, cursor }), { signal })
    if (page.runs.length > 0 || page.cursor === null || requests === requestsMax) return page
    cursor = page.cursor
  }
}

async function redriveAll(runs: readonly Run[]): Promise<void> {
  const answers = await Promise.allSettled(
    runs.map(({ jobId, runNo }) => ask<CommandResult>(path(['runs', jobId, runNo, 'redrive']), { method: 'POST', body: {} })),
  )
  const redriven = answers.filter(({ status }) => status === 'fulfilled').length
  const refused = answers.find((answer): answer is PromiseRejectedResult => answer.status === 'rejected')
  if (refused === undefined) say(`${counted(redriven, 'run')} redriven.`)
  else say(`${counted(redriven, 'run')} redriven, ${count(answers.length - redriven)} not: ${refused.reason}`, true)
}

async function redriveFiltered(query: URLSearchParams): Promise<void> {
  const body = wantedOf(fields, query)
  const which = Object.entries(body).map(([name, text]) => `${name} ${text}`)
  const wanted = await confirmed({
    title: 'Redrive all dead letters?',
    consequence: `Creates a new run for each dead letter ${which.length > 0 ? `with ${which.join(' and ')}` : 'of every job'}, at most 1,000 at once. The handlers run again with the same payloads.`,
    yes: 'Redrive all',
  })
  if (!wanted) return
  const answer = { runIds: [] as string[], left: [] as { detail: string }[], more: false }
  await act(
    async () => {
      Object.assign(answer, await ask<typeof answer>('/v1/dead-letters/redrive', { method: 'POST', body }))
      return undefined
    },
    () => {
      const left = answer.left.length === 0 ? '' : ` ${count(answer.left.length)} not redriven: ${answer.left[0]?.detail}`
      return `${counted(answer.runIds.length, 'run')} redriven${answer.more ? '; more remain' : ''}.${left}`
    },
  )
}

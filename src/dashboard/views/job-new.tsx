/** Form for a new job: its ID, its definition as JSON, and a preview of its fires. */
import { useSignal } from '@preact/signals'
import { act, ask, go, jobHref, type PlannedJob, path, say } from '../model/index.ts'
import { DefinitionEditor, FirePreview, Heading, parseDefinition, textOf } from '../parts/index.ts'

const template = { schedule: { cron: '0 9 * * MON-FRI', timezone: 'UTC' }, target: { handler: 'log' }, payload: {} }

export function JobNewView() {
  const id = useSignal('')
  const text = useSignal(textOf(template))
  const { definition, problem } = parseDefinition(text.value)
  const create = async (event: SubmitEvent): Promise<void> => {
    event.preventDefault()
    if (definition !== undefined && (await createJob(id.value.trim(), definition))) go(jobHref(id.value.trim()))
  }
  return (
    <>
      <p class="crumbs">
        <a href="/jobs">Jobs</a>
      </p>
      <Heading title="New job" />
      <form class="edit" onSubmit={(event) => void create(event)}>
        <label class="new-id">
          ID
          <input
            class="code"
            required
            autocomplete="off"
            spellcheck={false}
            value={id.value}
            onInput={(event) => {
              id.value = event.currentTarget.value
            }}
          />
        </label>
        <div class="halves">
          <section aria-labelledby="text">
            <h2 id="text">Definition</h2>
            <DefinitionEditor text={text} />
            <p id="json-problem" class="bad" role="status">
              {problem}
            </p>
          </section>
          <section aria-labelledby="fires">
            <h2 id="fires">Fire preview</h2>
            <FirePreview definition={definition} />
          </section>
        </div>
        <div class="buttons">
          <button type="submit" class="main" disabled={definition === undefined}>
            Create job
          </button>
          <a class="button" href="/jobs">
            Cancel
          </a>
        </div>
      </form>
    </>
  )
}

/** An existing job with this ID is not changed. */
async function createJob(id: string, definition: object): Promise<boolean> {
  let refused = false
  const sent = await act(
    async () => {
      const { jobs } = await ask<{ jobs: PlannedJob[] }>('/v1/jobs/plan', {
        method: 'POST',
        body: { jobs: [{ ...definition, id }] },
      })
      const action = jobs[0]?.action
      refused = action === 'UPDATE' || action === 'UNCHANGED' || action === 'DROPPED'
      if (refused) return undefined
      return ask<undefined>(`${path(['jobs', id])}?wait=applied`, { method: 'PUT', body: definition })
    },
    () => `Created ${id}.`,
  )
  if (refused) say(`Job ${id} already exists. Edit it, or choose another ID.`, true)
  return sent && !refused
}

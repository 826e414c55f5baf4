/** Form for a new job: its ID, its definition as JSON, and a preview of its fires. What is not saved is kept as a draft. */
import { type Signal, useSignal, useSignalEffect } from '@preact/signals'
import { confirmed, createJob, draftOf, forgetError, go, jobHref, keepDraft } from '../model/index.ts'
import {
  type DefinitionCheck,
  DefinitionEditor,
  EditButtons,
  Heading,
  Loading,
  refusalOf,
  textOf,
  useDefinitionCheck,
  useFieldSchemas,
  useUndo,
} from '../parts/index.ts'

const template = textOf({ schedule: { cron: '0 9 * * MON-FRI', timezone: 'UTC' }, target: { handler: 'log' }, payload: {} })
function refusal(id: string, check: DefinitionCheck): string {
  if (id === '') return 'Give the job an ID.'
  const action = check.planned?.action
  if (action === 'UPDATE' || action === 'UNCHANGED' || action === 'DROPPED')
    return `Job ${id} already exists. Edit it, or choose another ID.`
  return refusalOf(check)
}

export function JobNewView() {
  const schemas = useFieldSchemas()
  const id = useSignal(draftOf('')?.id ?? '')
  const text = useSignal(draftOf('')?.text ?? template)
  const all = useSignal(false)
  const saving = useSignal(false)
  const name = id.value.trim()
  const check = useDefinitionCheck(name, text)
  const undo = useUndo(text)
  const why = refusal(name, check)
  const isEmpty = (): boolean => text.value === template && id.value === ''
  useSignalEffect(() => {
    const unsaved = isEmpty() ? undefined : { text: text.value, base: template, etag: '', id: id.value }
    keepDraft('', unsaved)
  })
  const end = (href: string): void => {
    // Also the draft that is about to be kept.
    text.value = template
    id.value = ''
    keepDraft('', undefined)
    go(href)
  }
  const create = async (): Promise<void> => {
    if (why !== '' || saving.value) return
    saving.value = true
    const isCreated = await createJob(name, check.definition)
    saving.value = false
    if (isCreated) end(jobHref(name))
  }
  const cancel = async (): Promise<void> => {
    const question = { title: 'Discard this job?', consequence: 'What you wrote is lost.', yes: 'Discard', no: 'Keep editing' }
    if (isEmpty() || (await confirmed(question))) end('/jobs')
  }
  return (
    <>
      <p class="crumbs">
        <a href="/jobs">Jobs</a>
      </p>
      <Heading title="New job" />
      <form
        class="edit"
        onSubmit={(event) => {
          event.preventDefault()
          void create()
        }}
      >
        <IdField id={id} />
        {schemas === undefined ? (
          <Loading what="the editor" />
        ) : (
          <DefinitionEditor text={text} check={check} schemas={schemas} all={all} undo={undo} />
        )}
        <EditButtons label="Create job" refusal={why} saving={saving.value} cancel={cancel} />
      </form>
    </>
  )
}

function IdField({ id }: { id: Signal<string> }) {
  return (
    <label class="new-id">
      ID
      <input
        class="code"
        required
        autocomplete="off"
        spellcheck={false}
        value={id.value}
        aria-describedby="refusal"
        onInput={(event) => {
          id.value = event.currentTarget.value
          forgetError()
        }}
      />
    </label>
  )
}

/** Editors of a job: its definition as form and JSON, a preview of its fires, and for a job that exists a review of the changes before they are saved.
 * A save replaces only the version that the edit began with, so it never overwrites another user's change. What is not saved is kept as a draft. */
import { type Signal, useComputed, useSignal, useSignalEffect } from '@preact/signals'
import { useEffect, useMemo, useRef } from 'preact/hooks'
import {
  confirmed,
  createJob,
  draftOf,
  type FieldSchemas,
  forgetError,
  go,
  type Job,
  type JobDefinition,
  jobHref,
  keepDraft,
  putJob,
  same,
  say,
  setTo,
  withDefaults,
  withoutDefaults,
} from '../model/index.ts'
import {
  ChangedByOther,
  type DefinitionCheck,
  DefinitionEditor,
  Diff,
  definitionOf,
  EditButtons,
  FireChanges,
  FirePreview,
  Heading,
  Loading,
  refusalOf,
  Section,
  textOf,
  useDefinitionCheck,
  useFieldSchemas,
  useUndo,
} from '../parts/index.ts'

interface JobEditProps {
  job: Job
  done: () => void
  refresh: () => Promise<void>
}

export function JobEdit(props: JobEditProps) {
  const schemas = useFieldSchemas()
  return schemas === undefined ? <Loading what="the editor" /> : <Editor {...props} schemas={schemas} />
}

/** The text of an editor: what is wrong with it, its undo, and a save that is under way. */
function useEditor(id: string, text: Signal<string>) {
  const all = useSignal(false)
  const saving = useSignal(false)
  const check = useDefinitionCheck(id, text)
  const undo = useUndo(text)
  const save = async (send: (definition: JobDefinition) => Promise<void>): Promise<void> => {
    if (saving.value || check.definition === undefined) return
    saving.value = true
    await send(check.definition)
    saving.value = false
  }
  return { text, all, check, undo, saving, save }
}

/** What is edited, and what it began with. */
function useEdit(job: Job, schemas: FieldSchemas | null, done: () => void) {
  const shown = (definition: object): object => (schemas === null ? definition : withoutDefaults(definition, schemas))
  const theirs = useMemo(() => textOf(shown(job.definition ?? {})), [job.definition])
  const draft = useMemo(() => draftOf(job.id), [])
  const etag = useSignal(draft?.etag ?? job.etag)
  const base = useSignal(draft?.base ?? theirs)
  const text = useSignal(draft?.text ?? base.value)
  const isChanged = useComputed(() => {
    if (text.value === base.value) return false
    const [mine, before] = [definitionOf(text.value), definitionOf(base.value)]
    return mine === undefined || before === undefined || !same(shown(mine), shown(before))
  })
  useSignalEffect(() => {
    const unsaved = isChanged.value ? { text: text.value, base: base.value, etag: etag.value } : undefined
    keepDraft(job.id, unsaved)
  })
  const begin = (from: string): void => {
    etag.value = job.etag
    base.value = theirs
    text.value = from
  }
  const isOther = job.etag !== etag.value && theirs !== base.value
  // Without changes of mine there is nothing to lose, and without changes of theirs nothing to compare.
  useEffect(() => {
    if (job.etag === etag.value) return
    if (theirs === base.value) etag.value = job.etag
    else if (!isChanged.value) {
      begin(theirs)
      say('Someone else saved this job. You see its present definition.')
    }
  }, [job.etag, theirs])
  const end = (): void => {
    // Also the draft that is about to be kept.
    text.value = base.value
    keepDraft(job.id, undefined)
    done()
  }
  const cancel = async (): Promise<void> => {
    const question = { title: 'Discard your changes?', consequence: `Your changes to ${job.id} are lost.` }
    if (!isChanged.value || (await confirmed({ ...question, yes: 'Discard', no: 'Keep editing' }))) end()
  }
  return { text, base, etag, theirs, isChanged, isOther, begin, end, cancel, wasDraft: draft !== undefined }
}

function Editor({ job, done, refresh, schemas }: JobEditProps & { schemas: FieldSchemas | null }) {
  const edit = useEdit(job, schemas, done)
  const { base, isChanged, end, cancel } = edit
  const editor = useEditor(job.id, edit.text)
  const { check, all, saving } = editor
  const reviewing = useSignal(false)
  const save = async (definition: JobDefinition): Promise<void> => {
    if (await putJob(job.id, definition, edit.etag.value)) end()
    else await refresh()
  }
  const refusal = isChanged.value
    ? edit.isOther
      ? 'Compare with the present definition first.'
      : refusalOf(check)
    : 'No changes yet.'
  const normal = (definition: object): string =>
    textOf(schemas === null ? definition : (all.value ? withDefaults : withoutDefaults)(definition, schemas))
  return (
    <form
      class="edit"
      onSubmit={(event) => {
        event.preventDefault()
        if (refusal !== '') return
        if (reviewing.value) void editor.save(save)
        else reviewing.value = true
      }}
    >
      {edit.wasDraft && isChanged.value && (
        <p class="state">Unsaved changes from before. They are kept in this tab until you save or discard them.</p>
      )}
      {edit.isOther && isChanged.value && <ChangedByOther {...edit} mine={check.definition} reviewing={reviewing} />}
      {reviewing.value ? (
        <Review
          id={job.id}
          before={normal(definitionOf(base.value) ?? {})}
          after={normal(check.definition ?? {})}
          definition={check.definition}
        />
      ) : (
        <DefinitionEditor {...editor} schemas={schemas} />
      )}
      <EditButtons label={reviewing.value ? 'Save' : 'Review changes'} refusal={refusal} saving={saving.value} cancel={cancel}>
        {reviewing.value && (
          <button type="button" onClick={() => setTo(reviewing, false)}>
            Keep editing
          </button>
        )}
      </EditButtons>
    </form>
  )
}

function Review({
  id,
  before,
  after,
  definition,
}: { id: string; before: string; after: string } & Pick<DefinitionCheck, 'definition'>) {
  const title = useRef<HTMLHeadingElement>(null)
  // The focus moves to the review. It must not stay on the button that has just become Save.
  useEffect(() => title.current?.focus(), [])
  return (
    <div class="halves">
      <section aria-labelledby="text">
        <h2 id="text" ref={title} tabIndex={-1}>
          Changes
        </h2>
        <Diff before={before} after={after} label="Changed lines" />
      </section>
      <div>
        <Section id="changes" title="Changed fire times">
          <FireChanges id={id} definition={definition} />
        </Section>
        <Section id="fires" title="Fire preview">
          <FirePreview definition={definition} />
        </Section>
      </div>
    </div>
  )
}

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
  const name = id.value.trim()
  const editor = useEditor(name, text)
  const why = refusal(name, editor.check)
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
  const create = async (definition: JobDefinition): Promise<void> => {
    if (await createJob(name, definition)) end(jobHref(name))
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
          if (why === '') void editor.save(create)
        }}
      >
        <IdField id={id} />
        {schemas === undefined ? <Loading what="the editor" /> : <DefinitionEditor {...editor} schemas={schemas} />}
        <EditButtons label="Create job" refusal={why} saving={editor.saving.value} cancel={cancel} />
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

/**
 * Editor of an existing job: JSON, a preview of its fires, and a review of the changes before they are saved. A save replaces only the version
 * that the edit began with, so it never overwrites another user's change. Edits that are not saved are kept as a draft.
 */
import { useComputed, useSignal, useSignalEffect } from '@preact/signals'
import { useEffect, useMemo, useRef } from 'preact/hooks'
import {
  confirmed,
  draftOf,
  type FieldSchemas,
  type Job,
  keepDraft,
  putJob,
  same,
  say,
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
  Loading,
  refusalOf,
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
  const { text, base, isChanged, end, cancel } = edit
  const all = useSignal(false)
  const reviewing = useSignal(false)
  const saving = useSignal(false)
  const check = useDefinitionCheck(job.id, text)
  const undo = useUndo(text)
  const save = async (): Promise<void> => {
    if (saving.value) return
    saving.value = true
    const isSaved = await putJob(job.id, check.definition, edit.etag.value)
    saving.value = false
    if (isSaved) end()
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
        if (reviewing.value) void save()
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
          check={check}
        />
      ) : (
        <DefinitionEditor text={text} check={check} schemas={schemas} all={all} undo={undo} />
      )}
      <EditButtons label={reviewing.value ? 'Save' : 'Review changes'} refusal={refusal} saving={saving.value} cancel={cancel}>
        {reviewing.value && (
          <button
            type="button"
            onClick={() => {
              reviewing.value = false
            }}
          >
            Keep editing
          </button>
        )}
      </EditButtons>
    </form>
  )
}

interface ReviewProps {
  id: string
  before: string
  after: string
  check: DefinitionCheck
}

function Review({ id, before, after, check: { definition } }: ReviewProps) {
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
        <section aria-labelledby="changes">
          <h2 id="changes">Changed fire times</h2>
          <FireChanges id={id} definition={definition} />
        </section>
        <section aria-labelledby="fires">
          <h2 id="fires">Fire preview</h2>
          <FirePreview definition={definition} />
        </section>
      </div>
    </div>
  )
}

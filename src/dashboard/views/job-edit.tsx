/**
 * Editor of an existing job: the definition as JSON, a preview of its fires, and a review of the changes before they are saved.
 * A save replaces only the version that was read, so it never overwrites another user's change.
 */
import { type Signal, useSignal } from '@preact/signals'
import { useEffect, useRef } from 'preact/hooks'
import { type Job, lineDiff, putJob } from '../model/index.ts'
import { DefinitionEditor, FireChanges, FirePreview, parseDefinition, textOf } from '../parts/index.ts'

interface JobEditProps {
  job: Job
  done: () => void
}

export function JobEdit({ job, done }: JobEditProps) {
  /** The version that is being edited; `job` is refreshed meanwhile. */
  const read = useSignal(job)
  const before = textOf(read.value.definition)
  const text = useSignal(before)
  const reviewing = useSignal(false)
  const { definition, problem } = parseDefinition(text.value)
  const changed = definition !== undefined && textOf(definition) !== before
  const title = useRef<HTMLHeadingElement>(null)
  // The focus moves to the review. It must not stay on the button that has just become Save.
  useEffect(() => {
    if (reviewing.value) title.current?.focus()
  }, [reviewing.value])
  const reload = (): void => {
    read.value = job
    text.value = textOf(job.definition)
    reviewing.value = false
  }
  const submit = (event: SubmitEvent): void => {
    event.preventDefault()
    if (reviewing.value) void putJob(job.id, definition, read.value.etag).then((saved) => saved && done())
    else reviewing.value = true
  }
  return (
    <form class="edit" onSubmit={submit}>
      {job.etag !== read.value.etag && <ChangedByOther reload={reload} />}
      <div class="halves">
        <section aria-labelledby="text">
          <h2 id="text" ref={title} tabIndex={-1}>
            {reviewing.value ? 'Changes' : 'Definition'}
          </h2>
          {reviewing.value ? <Diff before={before} after={textOf(definition)} /> : <DefinitionEditor text={text} />}
          <p id="json-problem" class="bad" role="status">
            {problem}
          </p>
        </section>
        <div>
          {reviewing.value && (
            <section aria-labelledby="changes">
              <h2 id="changes">Changed fire times</h2>
              <FireChanges id={job.id} definition={definition} />
            </section>
          )}
          <section aria-labelledby="fires">
            <h2 id="fires">Fire preview</h2>
            <FirePreview definition={definition} />
          </section>
        </div>
      </div>
      <div class="buttons">
        <EditButtons reviewing={reviewing} submittable={changed} done={done} />
        {!changed && problem === '' && <span class="aside">No changes yet.</span>}
      </div>
    </form>
  )
}

function EditButtons({ reviewing, submittable, done }: { reviewing: Signal<boolean>; submittable: boolean; done: () => void }) {
  return (
    <>
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
      <button key={String(reviewing.value)} type="submit" class="main" disabled={!submittable}>
        {reviewing.value ? 'Save' : 'Review changes'}
      </button>
      <button type="button" onClick={done}>
        Cancel
      </button>
    </>
  )
}

function ChangedByOther({ reload }: { reload: () => void }) {
  return (
    <p class="state warn" role="alert">
      Someone else saved this job meanwhile. Your changes cannot be saved over theirs.{' '}
      <button type="button" class="link" onClick={reload}>
        Discard my changes and load the current definition
      </button>
    </p>
  )
}

const signs = { same: ' ', added: '+', removed: '−' } as const
const words = { same: '', added: 'added: ', removed: 'removed: ' } as const

function Diff({ before, after }: { before: string; after: string }) {
  return (
    <pre class="diff" tabIndex={0} role="region" aria-label="Changed lines">
      {lineDiff(before, after).map(({ kind, text }, index) => (
        <span key={`${index} ${text}`} class={kind}>
          <span aria-hidden="true">{signs[kind]} </span>
          <span class="unseen">{words[kind]}</span>
          {text}
          {'\n'}
        </span>
      ))}
    </pre>
  )
}

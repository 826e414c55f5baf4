/**
 * Changes a definition: as text, with the fires that would follow beside it, and what changes shown before it is saved.
 * It is saved only over the version that was read, so nobody else's change is lost.
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
  /** The version that was read; `job` goes on changing. */
  const read = useSignal(job)
  const before = textOf(read.value.definition)
  const text = useSignal(before)
  const reviewing = useSignal(false)
  const { definition, problem } = parseDefinition(text.value)
  const changed = definition !== undefined && textOf(definition) !== before
  const title = useRef<HTMLHeadingElement>(null)
  // Saving wants a second look: the keyboard is not left on the button that has just become another one.
  useEffect(() => {
    if (reviewing.value) title.current?.focus()
  }, [reviewing.value])
  const beginAgain = (): void => {
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
      {job.etag !== read.value.etag && <Overtaken beginAgain={beginAgain} />}
      <div class="halves">
        <section aria-labelledby="text">
          <h2 id="text" ref={title} tabIndex={-1}>
            {reviewing.value ? 'What changes' : 'Definition'}
          </h2>
          {reviewing.value ? <Diff before={before} after={textOf(definition)} /> : <DefinitionEditor text={text} />}
          <p id="json-problem" class="bad" role="status">
            {problem}
          </p>
        </section>
        <div>
          {reviewing.value && (
            <section aria-labelledby="changes">
              <h2 id="changes">Times that change</h2>
              <FireChanges id={job.id} definition={definition} />
            </section>
          )}
          <section aria-labelledby="fires">
            <h2 id="fires">It would fire next</h2>
            <FirePreview definition={definition} />
          </section>
        </div>
      </div>
      <div class="buttons">
        <EditButtons reviewing={reviewing} mayGoOn={changed} done={done} />
        {!changed && problem === '' && <span class="aside">Nothing is changed yet.</span>}
      </div>
    </form>
  )
}

function EditButtons({ reviewing, mayGoOn, done }: { reviewing: Signal<boolean>; mayGoOn: boolean; done: () => void }) {
  return (
    <>
      {reviewing.value && (
        <button
          type="button"
          onClick={() => {
            reviewing.value = false
          }}
        >
          Edit on
        </button>
      )}
      <button key={String(reviewing.value)} type="submit" class="main" disabled={!mayGoOn}>
        {reviewing.value ? 'Save' : 'Review the changes'}
      </button>
      <button type="button" onClick={done}>
        Discard
      </button>
    </>
  )
}

function Overtaken({ beginAgain }: { beginAgain: () => void }) {
  return (
    <p class="state warn" role="alert">
      Somebody has changed this job since you began; saving will be refused.{' '}
      <button type="button" class="link" onClick={beginAgain}>
        Begin again from the present definition
      </button>
    </p>
  )
}

const signs = { same: ' ', added: '+', removed: '−' } as const
const words = { same: '', added: 'added: ', removed: 'removed: ' } as const

function Diff({ before, after }: { before: string; after: string }) {
  return (
    <pre class="diff" tabIndex={0} role="region" aria-label="Changes line by line">
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

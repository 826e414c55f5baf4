/** Actions of a job: buttons on its page, and in a list two buttons and a menu, so that no dangerous button stands in each row. */
import { signal } from '@preact/signals'
import { useRef } from 'preact/hooks'
import { backfill, cancelJob, type Job, jobHref, pause, remove, resume, runNow, visible } from '../model/index.ts'
import { ActionButton } from './action-button.tsx'
import { Modal } from './modal.tsx'
import { latestTime } from './search-form.tsx'

interface JobActionsProps {
  job: Job
  changed: () => Promise<void>
  deleted: () => Promise<void> | void
}

async function then(done: Promise<boolean>, next: () => Promise<void> | void): Promise<void> {
  if (await done) await next()
}

const open = signal<{ kind: 'menu' | 'backfill'; actions: JobActionsProps } | undefined>(undefined)
const close = (): void => {
  open.value = undefined
}

/** The label of each button names the job, for screen readers. */
export function JobActions(props: JobActionsProps) {
  return (
    <>
      <FirstActions {...props} />
      <MoreActions {...props} />
    </>
  )
}

export function JobRowActions(props: JobActionsProps) {
  return (
    <>
      <FirstActions {...props} />
      <button
        type="button"
        aria-haspopup="dialog"
        aria-label={`More actions: ${visible(props.job.id)}`}
        onClick={() => {
          open.value = { kind: 'menu', actions: props }
        }}
      >
        ⋯
      </button>
    </>
  )
}

function FirstActions({ job: { id, status }, changed }: JobActionsProps) {
  const name = visible(id)
  return (
    <>
      <ActionButton label={`Run now: ${name}`} run={() => then(runNow(id), changed)}>
        Run now
      </ActionButton>
      {status === 'PAUSED' ? (
        <ActionButton label={`Resume ${name}`} run={() => then(resume(id), changed)}>
          Resume
        </ActionButton>
      ) : (
        <ActionButton label={`Pause ${name}`} disabled={status !== 'ACTIVE'} run={() => then(pause(id), changed)}>
          Pause
        </ActionButton>
      )}
    </>
  )
}

function MoreActions(props: JobActionsProps) {
  const { job, changed, deleted } = props
  const { id, definition, active, nextFireAt } = job
  const name = visible(id)
  const { cron, rrule, everyMs } = definition?.schedule ?? {}
  return (
    <>
      <a class="button" href={`${jobHref(id)}?edit`} aria-label={`Edit ${name}`} onClick={close}>
        Edit
      </a>
      {(cron ?? rrule ?? everyMs) != null && (
        <button
          type="button"
          aria-haspopup="dialog"
          aria-label={`Backfill ${name}`}
          onClick={() => {
            open.value = { kind: 'backfill', actions: props }
          }}
        >
          Backfill
        </button>
      )}
      {(active.length > 0 || nextFireAt !== null) && (
        <ActionButton class="risky" label={`Cancel job ${name}`} run={() => after(cancelJob(job), changed)}>
          Cancel job
        </ActionButton>
      )}
      <ActionButton class="risky" label={`Delete ${name}`} run={() => after(remove(job), deleted)}>
        Delete
      </ActionButton>
    </>
  )
}

/** The menu closes before the question is asked. */
function after(done: Promise<boolean>, next: () => Promise<void> | void): Promise<void> {
  close()
  return then(done, next)
}

/** The menu of a row, or the form of a backfill. */
export function JobDialogs() {
  const shown = open.value
  if (shown === undefined) return null
  const name = visible(shown.actions.job.id)
  if (shown.kind === 'menu') {
    return (
      <Modal key={`menu ${name}`} title={name} close={close}>
        <div class="menu">
          <MoreActions {...shown.actions} />
        </div>
        <div class="buttons end">
          <button type="button" onClick={close}>
            Close
          </button>
        </div>
      </Modal>
    )
  }
  return (
    <Modal key={`backfill ${name}`} title={`Backfill ${name}`} close={close}>
      <BackfillForm {...shown.actions} />
    </Modal>
  )
}

function BackfillForm({ job: { id }, changed }: JobActionsProps) {
  const place = useRef<HTMLFormElement>(null)
  const send = async (): Promise<void> => {
    const form = place.current
    if (form === null || !form.reportValidity()) return
    const given = new FormData(form)
    // Without a zone the text is a time of the viewer's zone.
    const at = (name: string): string => new Date(String(given.get(name))).toISOString()
    if (!(await backfill(id, at('from'), at('to')))) return
    close()
    await changed()
  }
  return (
    <form ref={place} onSubmit={(event) => event.preventDefault()}>
      <p>Creates one run for each occurrence of a past range, one after the other.</p>
      <div class="filters">
        <label>
          From
          <input name="from" type="datetime-local" step={1} max={latestTime} required />
        </label>
        <label>
          To (exclusive)
          <input name="to" type="datetime-local" step={1} max={latestTime} required />
        </label>
      </div>
      <div class="buttons end">
        <button type="button" onClick={close}>
          Cancel
        </button>
        <ActionButton class="main" run={send}>
          Start backfill
        </ActionButton>
      </div>
    </form>
  )
}

/** Actions of a job: buttons on its page, and in a list two buttons and a menu, so that no dangerous button stands in each row. */
import { signal, useSignal } from '@preact/signals'
import { useRef } from 'preact/hooks'
import {
  api,
  type BackfillCount,
  backfill,
  cancelBackfill,
  cancelJob,
  counted,
  instant,
  type Job,
  jobHref,
  pause,
  remove,
  resume,
  runNow,
  setTo,
  skipNext,
  viewerZone,
  visible,
} from '../model/index.ts'
import { ActionButton } from './buttons.tsx'
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
const close = (): void => setTo(open, undefined)

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
        onClick={() => setTo(open, { kind: 'menu', actions: props })}
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
      {nextFireAt !== null && (
        <ActionButton label={`Skip next occurrence of ${name}`} run={() => after(() => skipNext(job), changed)}>
          Skip next
        </ActionButton>
      )}
      {job.backfill !== null && (
        <ActionButton label={`End backfill of ${name}`} run={() => after(() => cancelBackfill(job), changed)}>
          End backfill
        </ActionButton>
      )}
      {(cron ?? rrule ?? everyMs) != null && job.backfill === null && (
        <button
          type="button"
          aria-haspopup="dialog"
          aria-label={`Backfill ${name}`}
          onClick={() => setTo(open, { kind: 'backfill', actions: props })}
        >
          Backfill
        </button>
      )}
      {(active.length > 0 || nextFireAt !== null) && (
        <ActionButton class="risky" label={`Cancel job ${name}`} run={() => after(() => cancelJob(job), changed)}>
          Cancel job
        </ActionButton>
      )}
      <ActionButton class="risky" label={`Delete ${name}`} run={() => after(() => remove(job), deleted)}>
        Delete
      </ActionButton>
    </>
  )
}

/** The menu closes before the question is asked, so that the focus goes back from the question to where it was before both. */
function after(action: () => Promise<boolean>, next: () => Promise<void> | void): Promise<void> {
  close()
  return then(action(), next)
}

/** The menu of a row, or the form of a backfill. */
export function JobDialogs() {
  const shown = open.value
  if (shown === undefined) return null
  const { id } = shown.actions.job
  if (shown.kind === 'menu') {
    return (
      <Modal key={`menu ${id}`} title={id} close={close}>
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
    <Modal key={`backfill ${id}`} title={`Backfill ${id}`} close={close}>
      <BackfillForm {...shown.actions} />
    </Modal>
  )
}

function countWords({ occurrences, isMore, first, last }: BackfillCount, zone: string): string {
  if (first === null || last === null) return 'The range has no occurrence.'
  const at = (time: string): string => instant(Date.parse(time), zone)
  const runs = `${isMore ? 'More than ' : ''}${counted(occurrences, 'run')}`
  return `${runs}: from ${at(first)} to ${isMore ? 'after ' : ''}${at(last)}, ${zone}.`
}

function BackfillForm({ job: { id, definition }, changed }: JobActionsProps) {
  const place = useRef<HTMLFormElement>(null)
  const found = useSignal('')
  const zone = definition?.schedule.timezone ?? viewerZone
  const range = (): { from: string; to: string } | undefined => {
    const form = place.current
    if (form === null || !form.checkValidity()) return undefined
    const given = new FormData(form)
    // Without a zone the text is a time of the viewer's zone.
    const at = (name: string): string => new Date(String(given.get(name))).toISOString()
    return { from: at('from'), to: at('to') }
  }
  const count = async (): Promise<void> => {
    const wanted = range()
    found.value =
      wanted === undefined ? '' : await api.countBackfill({ id, body: wanted }).then((found) => countWords(found, zone), String)
  }
  const send = async (): Promise<void> => {
    place.current?.reportValidity()
    const wanted = range()
    if (wanted === undefined || !(await backfill(id, wanted))) return
    close()
    await changed()
  }
  return (
    <form ref={place} onSubmit={(event) => event.preventDefault()} onChange={() => void count()}>
      <p>Creates one run for each occurrence of a past range. An occurrence of the schedule that is due goes first.</p>
      <p class="aside">Times of {viewerZone}.</p>
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
      <p role="status">{found.value}</p>
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

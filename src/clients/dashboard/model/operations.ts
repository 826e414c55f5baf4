/** Operations: changes of many jobs or dead runs that go on at the server. */
import { signal } from '@preact/signals'
import { changeWords, nothingFound } from '../../../../streams/text/index.ts'
import type { Operation, OperationRequest } from '../../../ground/answers/index.ts'
import { confirmed, say, sayError } from './actions.ts'
import { api, RequestProblem } from './request.ts'
import { counted } from './words.ts'

export type OperationAction = OperationRequest['action']

/** Time between two looks at an operation that goes on. */
const lookMs = 500

/** Operations that this page watches, newest last. */
export const watched = signal<readonly Operation[]>([])

/** What is being done to jobs and runs of this page, by their IDs. */
export const changing = signal<ReadonlyMap<string, string>>(new Map())

/** `going`: while it goes on. */
const words: Record<OperationAction, { verb: string; going: string; consequence: string; safe?: boolean }> = {
  PAUSE: { verb: 'Pause', going: 'pausing', consequence: 'They do not fire until they are resumed.', safe: true },
  RESUME: { verb: 'Resume', going: 'resuming', consequence: 'catchUp decides about occurrences that were missed.', safe: true },
  CANCEL: {
    verb: 'Cancel',
    going: 'cancelling',
    consequence: 'Their active runs are cancelled, and they do not fire again until they get new definitions.',
  },
  TRIGGER: { verb: 'Run', going: 'starting', consequence: 'Each gets one run now, outside its schedule.', safe: true },
  DELETE: { verb: 'Delete', going: 'deleting', consequence: 'Deletes the jobs and their run history. This cannot be undone.' },
  REDRIVE: { verb: 'Redrive', going: 'redriving', consequence: 'Each gets a new run with the same payload.', safe: true },
  CANCEL_RUN: {
    verb: 'Cancel',
    going: 'cancelling',
    consequence: 'Their handlers get a signal to stop, and the runs are not retried.',
  },
  DISCARD: {
    verb: 'Discard',
    going: 'discarding',
    consequence: 'They no longer count as dead and cannot be redriven. Their records stay in the topic of dead letters.',
  },
}

export const operationTitle = ({ action, total }: Operation): string => {
  const size = total === null ? '' : ` ${counted(total, changeWords(action).thing)}`
  return `${words[action as OperationAction]?.verb ?? action}${size}`
}

/** Operations that go on, also those of other people and pages. */
export async function findOperations(): Promise<void> {
  const { operations } = await api.listOperations({ active: true })
  for (const operation of operations) if (!watched.value.some(({ id }) => id === operation.id)) void follow(operation)
}

/** The rows of a list that an operation changes. They say so until it has ended and the list was read again. */
interface ChangedRows {
  ids: readonly string[]
  changed: () => Promise<void>
}

/** Asks with the number of jobs or runs, starts the operation, and resolves when it has ended. False: it was not started. */
export async function operate(request: OperationRequest, rows?: ChangedRows): Promise<boolean> {
  const { verb, consequence, safe = false } = words[request.action]
  const { thing } = changeWords(request.action)
  try {
    const listed = request.runIds?.length ?? (thing === 'job' ? request.jobIds?.length : undefined)
    const size = listed ?? (await api.countOperation({ body: request })).count
    if (size === 0) {
      say(nothingFound(request.action, request.filter))
      return false
    }
    const title = `${verb} ${counted(size, thing)}`
    if (!(await confirmed({ title: `${title}?`, consequence, yes: title, safe }))) return false
    const operation = await api.createOperation({ body: request })
    mark(rows?.ids, words[request.action].going)
    await follow(operation)
    await rows?.changed()
    return true
  } catch (error) {
    sayError(error)
    return false
  } finally {
    mark(rows?.ids, undefined)
  }
}

function mark(ids: readonly string[] = [], word: string | undefined): void {
  const next = new Map(changing.peek())
  for (const id of ids) {
    if (word === undefined) next.delete(id)
    else next.set(id, word)
  }
  changing.value = next
}

export const cancelOperation = ({ id }: Operation): Promise<unknown> =>
  api.cancelOperation({ id }).catch((error) => say(String(error), true))

const isOver = ({ status }: Operation): boolean => status === 'DONE' || status === 'CANCELLED' || status === 'FAILED'

async function follow(begun: Operation): Promise<void> {
  let operation = begun
  put(operation)
  while (!isOver(operation)) {
    await new Promise((resolve) => setTimeout(resolve, lookMs))
    try {
      operation = await api.getOperation({ id: operation.id })
    } catch (error) {
      // The server may be away for a while; the operation goes on without this page.
      if (error instanceof RequestProblem && error.status !== 0 && error.status !== 503) break
      continue
    }
    put(operation)
  }
  watched.value = watched.value.filter(({ id }) => id !== operation.id)
  tell(operation)
}

function put(operation: Operation): void {
  const others = watched.value.filter(({ id }) => id !== operation.id)
  watched.value = [...others, operation]
}

function tell({ action, filter, total, applied, refused, reasons, status, problem }: Operation): void {
  if (status === 'DONE' && total === 0) return say(nothingFound(action, filter))
  const { done, thing } = changeWords(action)
  const [first] = reasons
  const left = refused === 0 ? '' : ` ${counted(refused, thing)} not: ${first?.reason ?? 'no reason was given.'}`
  const ended = status === 'DONE' ? '' : ` The operation was ${status.toLowerCase()}${problem === null ? '' : `: ${problem}`}.`
  say(`${counted(applied, thing)} ${done}.${left}${ended}`, status !== 'DONE' || refused > 0)
}

/** The changes of one page of targets, with the payload of a TRIGGER as the media type of each job takes it. */
import type { JobCommandInput } from '../../../schemas/index.ts'
import { completeCommand, isJsonType } from '../../../streams/definitions/index.ts'
import { onlyOverHeaders } from '../../../streams/state/index.ts'
import { recordBytes } from '../../../streams/topics/index.ts'
import { DuelogError } from '../../ground/errors/index.ts'
import type { LogWriter, OperationAction, RecordOut, Target } from '../../ground/ports/index.ts'
import type { Ask, OperationsOptions } from './options.ts'

/** Bytes of one write: one batch of the log, so that its offsets follow each other. */
const writtenBytesMax = 500_000
/** How long one question waits until the owner has applied the changes. */
const appliedWaitMs = 5_000
/** Such questions, after which the page is written again later, so that others get its turn. */
const appliedWaitsMax = 6
/** Questions to an owner at once. */
const askedAtOnce = 16

export interface Refused {
  /** The job, or the run as `<jobId>/<runNo>`. */
  example: string
  code: string
  reason: string
}

export interface PageTools extends Pick<OperationsOptions, 'codecs' | 'names' | 'clock'> {
  writer: Pick<LogWriter, 'write'>
  ask: Ask
  action: OperationAction
  commandPrefix: string
  /** Of the runs that TRIGGER makes. Undefined: each job has its own. */
  payload: TriggerPayload | undefined
  actor: string | null
  signal: AbortSignal
  /** Called when the owner takes long, and with undefined when it goes on. */
  onWait(problem: string | undefined): void
}

interface Change {
  target: Target
  runNo: number | undefined
  commandId: string
}

/** Resolves with the refused changes when all are applied. Rejects with the signal's reason. A repeat has no further effect. */
export async function changeAll(tools: PageTools, partition: number, targets: readonly Target[]): Promise<Refused[]> {
  const changes: Change[] = []
  const unfit: Refused[] = []
  for (const target of targets) {
    if (isFit(tools, target)) changes.push(...changesOf(tools, target))
    else unfit.push({ example: target.id, code: 'payload-type', reason: payloadTypeText })
  }
  if (changes.length === 0) return unfit
  let last = 0
  for (const some of inWrites(recordsOf(tools, partition, changes))) {
    tools.signal.throwIfAborted()
    const [first = 0] = (await tools.writer.write(some)).values()
    last = first + some.length - 1
  }
  await applied(tools, partition, last)
  return [...unfit, ...(await refusedAmong(tools, partition, changes))]
}

const payloadTypeText =
  'The contentType of the job is not JSON, so its payload is a text or bytes; give a text, or bytes as payloadBase64.'

/** Whether the payload of the operation, if it has one, is one for this job. */
function isFit({ payload }: PageTools, { contentType }: Target): boolean {
  return payload === undefined || payload.of(contentType ?? null) !== undefined
}

function changesOf({ action, commandPrefix }: PageTools, target: Target): Change[] {
  if (target.runs === undefined) return [{ target, runNo: undefined, commandId: `${commandPrefix}${action.toLowerCase()}` }]
  return target.runs.map((runNo) => ({ target, runNo, commandId: `${commandPrefix}${action.toLowerCase()}/${runNo}` }))
}

/** One after another: with payloads, those of a page would take much memory. */
function* recordsOf(tools: PageTools, partition: number, changes: readonly Change[]): Generator<RecordOut> {
  for (const change of changes) yield recordOf(tools, partition, change)
}

function recordOf({ action, actor, payload, codecs, names, clock }: PageTools, partition: number, change: Change): RecordOut {
  const { target, runNo, commandId } = change
  const key = target.id
  if (action === 'DELETE') {
    return { topic: names.jobs, partition, key, value: null, headers: onlyOverHeaders(target.offset) }
  }
  const command: JobCommandInput = {
    type: action === 'DISCARD' ? 'CANCEL_RUN' : action,
    ...{ commandId, at: clock.nowMs(), actor, discard: action === 'DISCARD' },
    ...(runNo !== undefined && { runNo }),
    ...(payload !== undefined && { payload: payload.of(target.contentType ?? null) ?? null }),
  }
  return { topic: names.commands, partition, key, value: codecs.command.encode(completeCommand(command)) }
}

function* inWrites(records: Iterable<RecordOut>): Generator<RecordOut[]> {
  let some: RecordOut[] = []
  let bytes = 0
  for (const record of records) {
    const size = recordBytes(record)
    if (some.length > 0 && bytes + size > writtenBytesMax) {
      yield some
      some = []
      bytes = 0
    }
    some.push(record)
    bytes += size
  }
  yield some
}

async function applied({ action, ask, signal, onWait }: PageTools, partition: number, last: number): Promise<void> {
  const offsets = action === 'DELETE' ? { jobs: last } : { commands: last }
  const problem = `The owner of partition ${partition} has not applied the last changes yet.`
  for (let waits = 0; waits < appliedWaitsMax; waits++) {
    signal.throwIfAborted()
    if (await ask((owner) => owner.applied(partition, offsets, appliedWaitMs))) return onWait(undefined)
    onWait(problem)
  }
  throw new DuelogError('not-ready', problem)
}

/** An owner refuses PAUSE, RESUME and CANCEL of no job that it lists, so it is not asked about them. */
async function refusedAmong(tools: PageTools, partition: number, changes: readonly Change[]): Promise<Refused[]> {
  const { action, signal } = tools
  if (action === 'PAUSE' || action === 'RESUME' || action === 'CANCEL') return []
  const byJob = new Map<string, Change[]>()
  for (const change of changes) byJob.set(change.target.id, [...(byJob.get(change.target.id) ?? []), change])
  const jobs = [...byJob]
  const refused: Refused[] = []
  for (let at = 0; at < jobs.length; at += askedAtOnce) {
    signal.throwIfAborted()
    const some = jobs.slice(at, at + askedAtOnce)
    refused.push(...(await Promise.all(some.map(([id, asked]) => refusedOf(tools, partition, id, asked)))).flat())
  }
  return refused
}

async function refusedOf({ action, ask }: PageTools, partition: number, id: string, changes: Change[]): Promise<Refused[]> {
  if (action === 'DELETE') {
    const job = await ask((owner) => owner.job(partition, id))
    if (job === undefined) return []
    return [{ example: id, code: 'version-conflict', reason: 'The job got a new definition meanwhile, so it was not deleted.' }]
  }
  const why = await ask((owner) => owner.why(partition, id))
  return changes.flatMap(({ commandId, runNo }) => {
    const reason = why?.reasons.find((given) => given.commandId === commandId)
    if (reason === undefined) return []
    return [{ example: runNo === undefined ? id : `${id}/${runNo}`, code: reason.code, reason: reason.text }]
  })
}

export class TriggerPayload {
  readonly #bytes: Buffer
  readonly #isJson: boolean
  /** The text that JSON of a text stands for. */
  #text: Buffer | undefined

  constructor(bytes: Buffer, isJson: boolean) {
    this.#bytes = bytes
    this.#isJson = isJson
    if (!isJson) return
    const value = jsonIn(bytes)
    if (typeof value === 'string' && value.isWellFormed()) this.#text = Buffer.from(value)
  }

  /** As a command to this one job would carry it. Undefined: its media type takes text, and this is none. */
  of(contentType: string | null): Buffer | undefined {
    return !this.#isJson || contentType === null || isJsonType(contentType) ? this.#bytes : this.#text
  }
}

/** Undefined for what is no JSON: any client may write to the topic of the operations. */
function jsonIn(bytes: Buffer): unknown {
  try {
    return JSON.parse(bytes.toString())
  } catch {
    return undefined
  }
}

/** Decodes what the scratch store holds of a job. What cannot be decoded is counted; it never stops a backup. */
import { deserialize } from 'node:v8'
import type { Execution, ExecutionEvent, FinishedRun, FollowUp, FollowUpQueue, JobState } from '../../../schemas/index.ts'
import type { JobsRecord } from '../../../streams/backup/index.ts'
import { unreadableState } from '../../../streams/jobs/index.ts'
import { type KnownDefinition, storedDefinition } from '../../../streams/state/index.ts'
import { appendedAtOf } from '../../../streams/topics/index.ts'
import { DuelogError, messageOf } from '../../ground/errors/index.ts'
import { knownDefinition } from '../../ground/records/index.ts'
import type { Codecs } from '../../log/kafka/index.ts'
import { buffersOf } from './backup-file.ts'
import type { PackedInput } from './logged-system.ts'
import { offsetOfKey, type PartEntry } from './scratch.ts'

export class PartDecoder {
  readonly #codecs: Codecs
  /** Number of entries that cannot be decoded. */
  unreadable = 0

  constructor(codecs: Codecs) {
    this.#codecs = codecs
  }

  async record({ rest, value }: PartEntry): Promise<JobsRecord> {
    const { timestampMs, decided, value: bytes, headers } = deserialize(value) as PackedInput
    const appendedAt = appendedAtOf({ timestampMs, headers })
    const offset = offsetOfKey(rest)
    const place = { offset, appendedAt, bytes: Buffer.from(bytes ?? []) }
    const definition = bytes === null ? undefined : await knownDefinition(this.#codecs, place)
    return { offset, appendedAt, decided, definition, headers: buffersOf(headers) }
  }

  async state(id: string, bytes: Buffer, definition: KnownDefinition | undefined): Promise<JobState | undefined> {
    try {
      return (await this.#codecs.state.decode(bytes)).state ?? undefined
    } catch (error) {
      if (!isUndecodable(error)) throw error
      this.unreadable++
      return unreadableState({ id, definition }, messageOf(error))
    }
  }

  /** `ends`: those of dead runs. */
  async snapshots(
    entries: readonly PartEntry[],
  ): Promise<{ retained: KnownDefinition | undefined; runs: [number, Execution][]; ends: FinishedRun[] }> {
    let retained: KnownDefinition | undefined
    const runs: [number, Execution][] = []
    const ends: FinishedRun[] = []
    for (const { rest, value } of entries) {
      const runNo = offsetOfKey(rest)
      const { snapshot = null, run = null } = (await this.decoded(() => this.#codecs.state.decode(value))) ?? {}
      if (snapshot === null) continue
      if (run !== null) ends.push(run)
      if (runNo === 0) retained = await knownDefinition(this.#codecs, storedDefinition(snapshot))
      else {
        const execution = await this.decoded(() => this.#codecs.execution.decode(snapshot))
        if (execution !== undefined) runs.push([runNo, execution])
      }
    }
    return { retained, runs, ends }
  }

  /** Follow-ups that wait, in their order. */
  async followUps(entries: readonly PartEntry[], queue: FollowUpQueue | null): Promise<FollowUp[]> {
    if (queue === null) return []
    const followUps: FollowUp[] = []
    for (const { rest, value } of entries) {
      const page = offsetOfKey(rest)
      if (page < queue.firstPage || page > queue.lastPage) continue
      const items = (await this.decoded(() => this.#codecs.state.decode(value)))?.followUps?.items ?? []
      followUps.push(...items.slice(page === queue.firstPage ? queue.taken : 0))
    }
    return followUps
  }

  async runs(entries: readonly PartEntry[]): Promise<FinishedRun[]> {
    const runs: FinishedRun[] = []
    for (const { value } of entries) {
      const run = (await this.decoded(() => this.#codecs.state.decode(value)))?.run ?? undefined
      if (run !== undefined) runs.push(run)
    }
    return runs
  }

  async events(entries: readonly PartEntry[]): Promise<ExecutionEvent[]> {
    const events: ExecutionEvent[] = []
    for (const { value } of entries) {
      const { value: bytes } = deserialize(value) as PackedInput
      const event = await this.decoded(() => this.#codecs.event.decode(Buffer.from(bytes ?? [])))
      if (event !== undefined) events.push(event)
    }
    return events
  }

  /** Undefined, and counted: it cannot be decoded. */
  async decoded<Value>(decode: () => Value | Promise<Value>): Promise<Value | undefined> {
    try {
      return await decode()
    } catch (error) {
      if (!isUndecodable(error)) throw error
      this.unreadable++
      return undefined
    }
  }
}

const isUndecodable = (error: unknown): boolean => error instanceof DuelogError && error.code === 'undecodable'

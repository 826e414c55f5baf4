/** How far the logs of a partition are applied to its store, what the last committed position says of its inputs, and which commands were taken. */

import type { JobCommandType } from '../../../schemas/index.ts'
import type { Clock } from '../../ground/clock/index.ts'
import type { RecordIn } from '../../ground/ports/index.ts'
import { type ChangelogState, emptyChangelogState } from '../state/index.ts'
import type { InputRecord, Source } from './input-buffer.ts'
import type { PartitionReader, ReadSource } from './partition-reader.ts'

/** The next offset of each log: all before it is part of the store. */
export type AppliedOffsets = Record<ReadSource, number>

export class LogPositions {
  readonly #reader: Pick<PartitionReader, 'isOpen' | 'next' | 'reach' | 'end'>
  readonly #receives: () => boolean
  readonly #applied: AppliedOffsets
  #logged: ChangelogState
  #hasReports = false
  #mayBeLost = false

  /** `receives`: false once the partition takes nothing from its reader any more. `applied`: as the store was opened. */
  constructor(
    reader: Pick<PartitionReader, 'isOpen' | 'next' | 'reach' | 'end'>,
    receives: () => boolean,
    applied: Readonly<AppliedOffsets>,
    logged: Readonly<ChangelogState> = emptyChangelogState(),
  ) {
    this.#reader = reader
    this.#receives = receives
    this.#applied = { ...applied }
    this.#logged = { ...logged }
  }

  /** Always the same object. */
  get applied(): Readonly<AppliedOffsets> {
    return this.#applied
  }

  /** Content of the last position in the changelog, from any owner: what is decided, and what the ahead topics hold. */
  get logged(): Readonly<ChangelogState> {
    return this.#logged
  }

  /** Whether reports of runs were read since the claim. */
  get hasReports(): boolean {
    return this.#hasReports
  }

  /** True if no position was found although there are records on the topic of reports. */
  get mayBeLost(): boolean {
    return this.#mayBeLost
  }

  stateApplied(next: number): void {
    this.#applied.state = next
  }

  /** Definitions before this offset are decided. */
  jobsDecided(jobsOffset: number): void {
    this.#logged.jobsOffset = jobsOffset
  }

  /** This process owns the partition and continues its inputs from there. */
  claimed(logged: ChangelogState, from: Pick<AppliedOffsets, 'commands' | 'events'>, mayBeLost: boolean): void {
    this.#logged = logged
    Object.assign(this.#applied, from)
    this.#hasReports = false
    this.#mayBeLost = mayBeLost
  }

  reportRead(): void {
    this.#hasReports = true
  }

  /** All reports are read, so it is known which commands were taken before. */
  lossJudged(): void {
    this.#mayBeLost = false
    if (this.#hasReports) this.#logged.commandsUntil = allTaken
    else Object.assign(this.#logged, { commandsUntil: 0, commandsAnewTo: 0 })
  }

  /** The store has all before these offsets. */
  appliedTo(next: Readonly<AppliedOffsets>): void {
    Object.assign(this.#applied, next)
  }

  /** A position was committed, and the store has all before these offsets. */
  committed(next: Readonly<AppliedOffsets>, logged: Readonly<ChangelogState>): void {
    this.appliedTo(next)
    Object.assign(this.#logged, logged)
  }

  /**
   * The offsets with the records that no reader is shown, such as ends of transactions. They count as applied with the record
   * before them: they may expire without loss.
   */
  passed(next: Readonly<AppliedOffsets>): AppliedOffsets {
    return { ...next, commands: this.#doneTo('commands', next.commands), events: this.#doneTo('events', next.events) }
  }

  /** Whether all visible records of an input before `end` are part of the store. */
  hasApplied(source: Source, end: number): boolean {
    if (this.#applied[source] >= end) return true
    return this.#reader.reach(source) >= end && this.#applied[source] >= this.#reader.next(source)
  }

  /** Offset before which the store has all visible records of a log. */
  done(source: ReadSource): number {
    return this.#doneTo(source, this.#applied[source])
  }

  /** For each input the applied offset, and the end of its log if it is known. */
  inputs(): { source: Source; done: number; end: number }[] {
    return (['jobs', 'commands', 'events'] as const).map((source) => {
      const done = this.done(source)
      return { source, done, end: Math.max(done, this.#reader.end(source)) }
    })
  }

  /** Whether the changelog has another position of this input. */
  isUnlogged(source: Source): boolean {
    if (source === 'jobs') return this.#applied.jobs > this.#logged.jobsOffset
    return this.done(source) !== this.#logged[`${source}Offset`]
  }

  /**
   * How far an input is applied if everything before `next` is: all received records, and what the reader has passed after
   * them. A closing or failed partition receives nothing more, but its reader still passes records. Those are not applied.
   */
  #doneTo(source: ReadSource, next: number): number {
    const receives = this.#reader.isOpen(source) && this.#receives()
    const isAll = receives && next >= this.#reader.next(source)
    return isAll ? Math.max(next, this.#reader.reach(source)) : next
  }
}

/**
 * Which commands were taken before `job-commands` lost its end or was recreated; the topic may still hold them, or hold them again. A job
 * remembers its last 32 commands. For all others the append time of the last taken command decides (ADR 0049).
 */

/** Unknown which commands were taken, because all of the state was lost. */
export const allTaken = -1

/** Unknown so far whether all of the state was lost. The next owner continues to find out. */
export const perhapsTaken = -2

export type Taken = Pick<ChangelogState, 'commandsUntil' | 'commandsAnewTo'>

const isUnknown = (commandsUntil: number): boolean => commandsUntil === allTaken || commandsUntil === perhapsTaken

/** Whether the command was taken before. If all decisions are lost, PAUSE and RESUME are applied again, and nothing else is done twice. */
export function wasTaken({ offset, timestampMs, byBroker }: RecordIn, type: JobCommandType, known: Taken): boolean {
  if (offset >= known.commandsAnewTo) return false
  if (isUnknown(known.commandsUntil)) return type !== 'PAUSE' && type !== 'RESUME'
  return byBroker === true && timestampMs <= known.commandsUntil
}

/**
 * The values for the committed position once these records are applied. The owner's clock limits the append time, so a broker
 * whose clock is ahead does not make later commands look taken.
 */
export function commandsRead(
  { logged, applied, hasReports }: Pick<LogPositions, 'logged' | 'applied' | 'hasReports'>,
  clock: Pick<Clock, 'nowMs'>,
  inputRecords: readonly InputRecord[],
): Taken {
  let { commandsUntil, commandsAnewTo } = logged
  // The position may pass the only report that shows it, and the next owner does not read that report again.
  if (commandsUntil === perhapsTaken && hasReports) commandsUntil = allTaken
  for (const { source, offset, appendedAt } of inputRecords) {
    if (source !== 'commands' || offset < commandsAnewTo) continue
    if (isUnknown(commandsUntil)) commandsUntil = 0
    commandsUntil = Math.max(commandsUntil, Math.min(appendedAt ?? 0, clock.nowMs()))
  }
  if (applied.commands >= commandsAnewTo && !isUnknown(commandsUntil)) commandsAnewTo = 0
  return { commandsUntil, commandsAnewTo }
}

/**
 * The records that a lane has taken, in the order of the log, from the first whose offset is not known to be committed. It also knows which
 * records must not be taken again when the lane is read from an earlier offset.
 */

/** An entry, as far as it counts here. lane.ts has its states. */
interface Taken {
  readonly offset: number
  /** By the broker. Together with the offset it identifies the record, even if a topic was recreated. */
  readonly appendedAt: number
  readonly state: 'held' | 'started' | 'done' | 'dropped'
  /** It does not start here. */
  drop(): void
}

/** A log that shrinks more often while one worker reads it has some of its records run again. */
const shrunkMax = 8

export class TakenEntries<Entry extends Taken> {
  /** Completed entries before #head, whose commit failed, are read again like the rest. */
  #entries: Entry[] = []
  /** Indexes of the first entry that is not known to be committed, and of the first that is not done. */
  #head = 0
  #undone = 0
  /** Latest append time. */
  #readMs = 0
  /** Entries that started here before the lane was lost: the same records, read again, must not start twice in one process. */
  readonly #survivors = new Map<number, Entry>()
  /** Where the log was found to be shorter than before: records before these offsets, appended by these times, were taken and committed. */
  #shrunk: { offset: number; untilMs: number }[] = []

  /** How many there are between the committed offset and the next one. */
  get size(): number {
    return this.#entries.length - this.#head
  }

  get firstUndone(): Entry | undefined {
    this.#passDone()
    return this.#entries[this.#undone]
  }

  /** From the first that is not done. */
  undone(): Entry[] {
    this.#passDone()
    return this.#entries.slice(this.#undone)
  }

  held(): Entry[] {
    return this.#entries.slice(this.#head).filter(({ state }) => state === 'held')
  }

  /** Whether one before this offset has not started, so that no commit could pass it. */
  hasHeldBefore(offset: number): boolean {
    for (let at = this.#undone; at < this.#entries.length; at++) {
      const entry = this.#entries[at] as Entry
      if (entry.offset >= offset) return false
      if (entry.state === 'held') return true
    }
    return false
  }

  /** Held ones before one that has started: the committed offset cannot pass them. */
  heldBeforeStarted(): Entry[] {
    const open = this.#entries.slice(this.#head)
    const lastStarted = open.findLastIndex(({ state }) => state === 'started' || state === 'done')
    return open.slice(0, Math.max(lastStarted, 0)).filter(({ state }) => state === 'held')
  }

  /** Whether the record was taken before the log shrank. */
  isPast(offset: number, appendedAt: number): boolean {
    return this.#shrunk.some((shrunk) => offset < shrunk.offset && appendedAt <= shrunk.untilMs)
  }

  /** Adds the entry of a record: that which `make` makes, or the one that has started here before. */
  take(offset: number, appendedAt: number, make: () => Entry): { entry: Entry; isNew: boolean } {
    this.#readMs = Math.max(this.#readMs, appendedAt)
    const known = this.#survivors.get(offset)
    const survivor = known?.appendedAt === appendedAt ? known : undefined
    const entry = survivor ?? make()
    this.#entries.push(entry)
    return { entry, isNew: survivor === undefined }
  }

  /** Forgets those that have not started. The lane's next owner reads them again. */
  lose(): void {
    for (const entry of this.#entries.slice(this.#head)) {
      if (entry.state === 'held') entry.drop()
      else if (entry.state !== 'dropped') this.#survivors.set(entry.offset, entry)
    }
    this.#entries = []
    this.#head = 0
    this.#undone = 0
  }

  /**
   * The log was truncated or recreated, and is read from its beginning. It may hold records that were already taken, and new records may
   * reuse old offsets. The append time distinguishes them. `next`: the offset after the last one; undefined if nothing was read.
   */
  startOver(next: number | undefined): void {
    const offset = this.#entries[this.#head]?.offset ?? next
    if (offset !== undefined) this.#shrunk = [...this.#shrunk, { offset, untilMs: this.#readMs }].slice(-shrunkMax)
    this.lose()
  }

  /** A commit has passed these. */
  forgetBefore(offset: number): void {
    let head = this.#head
    while (head < this.#undone && (this.#entries[head] as Entry).offset < offset) head++
    this.#forget(head)
    this.forgetSurvivorsBefore(offset)
  }

  forgetSurvivorsBefore(offset: number): void {
    for (const survivor of this.#survivors.keys()) if (survivor < offset) this.#survivors.delete(survivor)
  }

  /** Those before the first that is not done: no commit will pass them. */
  forgetDone(): void {
    this.#passDone()
    this.#forget(this.#undone)
  }

  #passDone(): void {
    while (this.#entries[this.#undone]?.state === 'done') this.#undone++
  }

  #forget(head: number): void {
    this.#head = head
    if (this.#head <= 1_024 || this.#head * 2 <= this.#entries.length) return
    this.#entries = this.#entries.slice(this.#head)
    this.#undone -= this.#head
    this.#head = 0
  }
}

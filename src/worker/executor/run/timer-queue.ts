/**
 * Items that wait for an instant, with one timer for the earliest of them. Instants are whole milliseconds and many items share
 * one. So the heap holds instants, not items: a burst due at the same millisecond costs one heap entry, and each wake hands over
 * everything that is due by then.
 */
import { atInstant, type Clock } from '../../../ground/clock/index.ts'

export class TimerQueue<Item> {
  readonly #clock: Clock
  readonly #onDue: (item: Item) => void
  readonly #onWoken: () => void
  readonly #items = new Map<number, Set<Item>>()
  /** Binary min-heap of the keys of #items. */
  readonly #instants: number[] = []
  #armedAtMs = Number.POSITIVE_INFINITY
  #cancelTimer: (() => void) | undefined
  #waking = false

  /** `onDue` is called for each item at its instant or later, never before; `onWoken` once after each wake. */
  constructor(clock: Clock, onDue: (item: Item) => void, onWoken: () => void = () => {}) {
    this.#clock = clock
    this.#onDue = onDue
    this.#onWoken = onWoken
  }

  add(atMs: number, item: Item): void {
    const sharing = this.#items.get(atMs)
    if (sharing !== undefined) {
      sharing.add(item)
      return
    }
    this.#items.set(atMs, new Set([item]))
    pushInstant(this.#instants, atMs)
    if (atMs < this.#armedAtMs && !this.#waking) this.#arm()
  }

  /**
   * An empty instant stays in the heap until its time, so that an instant that is filled and emptied repeatedly enters it once.
   */
  delete(atMs: number, item: Item): void {
    this.#items.get(atMs)?.delete(item)
  }

  clear(): void {
    this.#items.clear()
    this.#instants.length = 0
    this.#arm()
  }

  #arm(): void {
    const firstMs = this.#instants[0] ?? Number.POSITIVE_INFINITY
    if (firstMs === this.#armedAtMs) return
    this.#cancelTimer?.()
    this.#armedAtMs = firstMs
    this.#cancelTimer = firstMs === Number.POSITIVE_INFINITY ? undefined : atInstant(this.#clock, firstMs, this.#wake)
  }

  #wake = (): void => {
    this.#cancelTimer = undefined
    this.#armedAtMs = Number.POSITIVE_INFINITY
    this.#waking = true
    const nowMs = this.#clock.nowMs()
    let firstMs = this.#instants[0]
    while (firstMs !== undefined && firstMs <= nowMs) {
      popInstant(this.#instants)
      const due = this.#items.get(firstMs)
      this.#items.delete(firstMs)
      if (due !== undefined) for (const item of due) this.#onDue(item)
      firstMs = this.#instants[0]
    }
    this.#waking = false
    this.#arm()
    this.#onWoken()
  }
}

function pushInstant(heap: number[], value: number): void {
  let at = heap.push(value) - 1
  while (at > 0) {
    const parent = (at - 1) >> 1
    const above = heap[parent] as number
    if (above <= value) break
    heap[at] = above
    at = parent
  }
  heap[at] = value
}

function popInstant(heap: number[]): void {
  const last = heap.pop()
  if (last === undefined || heap.length === 0) return
  let at = 0
  for (;;) {
    let child = 2 * at + 1
    if (child >= heap.length) break
    if (child + 1 < heap.length && (heap[child + 1] as number) < (heap[child] as number)) child++
    const below = heap[child] as number
    if (below >= last) break
    heap[at] = below
    at = child
  }
  heap[at] = last
}

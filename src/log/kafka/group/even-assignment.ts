/**
 * Assigns many items to few bins at a low cost: a greedy plan with swaps. Item counts of bins differ by at most one. Pure. The bins are
 * members of a group, the items are partitions. Each item belongs to one source. A pair is a bin and a source; its items are the items of
 * that source in that bin.
 */
export interface AssignmentPlan {
  /** Number of bins, numbered from 0. */
  bins: number
  /** At least 0; Infinity: forbidden. Deterministic. */
  cost(item: number, bin: number): number
  /**
   * Sources are numbered from 0. `pairItemsMax` is the number of items of one source that a bin takes. It takes more only if there
   * is no other way.
   */
  sourceOf(item: number): number
  pairItemsMax(bin: number, source: number): number
  /** Items whose places matter to this one, such as the other copies of a partition. Default: none. */
  siblings?(item: number): readonly number[]
  /** The added cost of two siblings in these bins. */
  togetherCost?(bin: number, other: number): number
}

/**
 * Limit of swaps that one plan examines. 12 partitions and 3 members take a few hundred; 1,024 partitions and 20 members take up to some
 * millions. Beyond it an item takes the cheapest free place: the result is still even, with more cold places. A count and not a time, so
 * that all leaders decide alike.
 */
const swapsMax = 2_000_000

const never = Number.POSITIVE_INFINITY

/** An item goes to `bin`, and the one that is in its way, if any, to another bin. */
interface Placing {
  cost: number
  bin: number
  moved?: { item: number; to: number }
}

export class EvenAssignment {
  readonly #plan: AssignmentPlan
  readonly #floor: number
  readonly #extras: number
  readonly #binOf = new Map<number, number>()
  readonly #items: Set<number>[]
  readonly #load: number[]
  /** Items of each source in each bin. */
  readonly #pairSizes: Map<number, number>[]
  /** Costs of each item, by bin. They are cached, because computing a cost takes longer than all of its uses. */
  readonly #costs: (Float64Array | undefined)[] = []
  /** Bins that have more than the floor. */
  #larger = 0
  #swapsLeft = swapsMax

  /** `count`: the number of items to assign. */
  constructor(plan: AssignmentPlan, count: number) {
    this.#plan = plan
    this.#floor = Math.floor(count / plan.bins)
    this.#extras = count % plan.bins
    const bins = Array.from({ length: plan.bins })
    this.#load = bins.map(() => 0)
    this.#items = bins.map(() => new Set())
    this.#pairSizes = bins.map(() => new Map())
  }

  /** Assigns an item to the bin that has it now, if there is room. The limit of pairs is not asked: see `assign`. */
  keep(item: number, bin: number): void {
    if (this.#binOf.has(item) || this.#costOf(item, bin) === never || !this.#hasRoom(bin)) return
    this.#put(item, bin)
  }

  /**
   * Assigns these items. Then each item of a pair beyond its limit moves, whatever the cost, if one step finds room; any other moves if
   * that costs less in total. So a plan that is given back, each item kept, stays as it is.
   */
  assign(items: readonly number[]): void {
    for (const item of items) if (!this.#binOf.has(item) && !this.#place(item, true, never)) this.#place(item, false, never)
    let isBetter = true
    while (isBetter && this.#swapsLeft > 0) {
      isBetter = false
      for (const item of items) {
        const bin = this.#binOf.get(item)
        if (bin === undefined || this.#swapsLeft <= 0) continue
        const isBeyond = this.#pairSize(bin, item) > this.#pairMax(bin, item)
        const cost = isBeyond ? never : this.#costOf(item, bin)
        if (cost === 0) continue
        this.#take(item)
        if (this.#place(item, true, cost)) isBetter = true
        else this.#put(item, bin)
      }
    }
  }

  /** False: no place costs less than this. */
  #place(item: number, isPairMaxKept: boolean, costMax: number): boolean {
    const placing = this.#cheapest(item, isPairMaxKept, costMax)
    if (placing === undefined) return false
    const { bin, moved } = placing
    if (moved !== undefined) {
      this.#take(moved.item)
      this.#put(moved.item, moved.to)
    }
    this.#put(item, bin)
    return true
  }

  /** The items of each bin. */
  get shares(): number[][] {
    return this.#items.map((items) => [...items].sort((a, b) => a - b))
  }

  /** Of equal costs, that of the least loaded bin, without a swap before with one. */
  #cheapest(item: number, isPairMaxKept: boolean, costMax: number): Placing | undefined {
    const bins = [...this.#load.keys()].sort((a, b) => this.#loadOf(a) - this.#loadOf(b) || a - b)
    let best: Placing = { cost: costMax, bin: -1 }
    for (const bin of bins) {
      const cost = this.#costOf(item, bin)
      if (cost < best.cost && this.#hasRoom(bin) && (!isPairMaxKept || this.#hasPairRoom(bin, item))) best = { cost, bin }
    }
    if (this.#swapsLeft <= 0 && best.bin !== -1) return best
    for (const bin of bins) {
      const cost = this.#costOf(item, bin)
      if (cost >= best.cost) continue
      for (const other of this.#items[bin] as Set<number>) best = this.#swapped(item, bin, other, isPairMaxKept, best)
    }
    return best.bin === -1 ? undefined : best
  }

  /** The better one of `best` and a swap in which `other` leaves the bin for this item. */
  #swapped(item: number, bin: number, other: number, isPairMaxKept: boolean, best: Placing): Placing {
    const { sourceOf } = this.#plan
    const isSame = sourceOf(item) === sourceOf(other)
    if (isPairMaxKept && !isSame && !this.#hasPairRoom(bin, item)) return best
    const change = this.#costOf(item, bin) - this.#costOf(other, bin)
    this.#swapsLeft -= this.#load.length
    let found = best
    for (const to of this.#load.keys()) {
      const cost = change + this.#costOf(other, to)
      if (to === bin || cost >= found.cost || !this.#hasRoom(to)) continue
      if (!isPairMaxKept || this.#hasPairRoom(to, other)) found = { cost, bin, moved: { item: other, to } }
    }
    return found
  }

  #costOf(item: number, bin: number): number {
    let cost = this.#costsOf(item)[bin] as number
    const { siblings, togetherCost } = this.#plan
    for (const sibling of siblings?.(item) ?? []) {
      const other = this.#binOf.get(sibling)
      if (other !== undefined) cost += togetherCost?.(bin, other) ?? 0
    }
    return cost
  }

  #costsOf(item: number): Float64Array {
    this.#costs[item] ??= Float64Array.from(this.#load, (_, bin) => this.#plan.cost(item, bin))
    return this.#costs[item]
  }

  #put(item: number, bin: number): void {
    this.#binOf.set(item, bin)
    this.#items[bin]?.add(item)
    this.#count(item, bin, 1)
  }

  #take(item: number): void {
    const bin = this.#binOf.get(item) as number
    this.#binOf.delete(item)
    this.#items[bin]?.delete(item)
    this.#count(item, bin, -1)
  }

  #count(item: number, bin: number, by: number): void {
    const source = this.#plan.sourceOf(item)
    const sizes = this.#pairSizes[bin] as Map<number, number>
    sizes.set(source, (sizes.get(source) ?? 0) + by)
    const before = this.#loadOf(bin)
    this.#load[bin] = before + by
    this.#larger += Number(before + by > this.#floor) - Number(before > this.#floor)
  }

  #loadOf(bin: number): number {
    return this.#load[bin] as number
  }

  #hasRoom(bin: number): boolean {
    const load = this.#loadOf(bin)
    return load < this.#floor || (load === this.#floor && this.#larger < this.#extras)
  }

  #hasPairRoom(bin: number, item: number): boolean {
    return this.#pairSize(bin, item) < this.#pairMax(bin, item)
  }

  #pairSize(bin: number, item: number): number {
    return this.#pairSizes[bin]?.get(this.#plan.sourceOf(item)) ?? 0
  }

  #pairMax(bin: number, item: number): number {
    return this.#plan.pairItemsMax(bin, this.#plan.sourceOf(item))
  }
}

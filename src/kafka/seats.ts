/**
 * Who of a few gets which of many, at the least cost, and nobody has more than one more than another: a flow of least cost, found by shortest
 * paths. Pure. The bins are members of a group, the items partitions; a crowd is what comes to one bin from one source.
 */

export interface SeatPlan {
  /** Number of bins; they are numbered from 0. */
  bins: number
  /** What each bin has already; it stays there. */
  taken: readonly number[]
  /** At least 0; Infinity: never. */
  cost(item: number, bin: number): number
  /** The source of an item, numbered from 0, and of how many items of one source a bin takes; beyond it only where there is no other way. */
  sources: number
  sourceOf(item: number): number
  crowdMax(bin: number, source: number): number
}

interface Step {
  from: number
  /** The item that moves along this step, if one does. */
  item: number | undefined
}

/** Steps of a search for one item; so many are never needed while the costs are sound. */
const looksPerNode = 64

/**
 * Moves that all searches of one plan look at together; 12 partitions and 3 members take a few hundred, 1,024 and 20 up to some millions.
 * After that an item takes the cheapest free place, and nobody makes room for it: still even, with more cold places. Counted and not
 * timed, so that all who lead decide alike.
 */
const MOVES_MAX = 2_000_000

export class Seats {
  readonly #plan: SeatPlan
  readonly #floor: number
  readonly #extras: number
  readonly #binOf = new Map<number, number>()
  readonly #load: number[]
  readonly #crowds: Set<number>[]
  /** Bins that have one more than the floor. */
  #larger: number
  #movesLeft = MOVES_MAX

  /** `count`: of the items that are to be seated, besides what is taken. */
  constructor(plan: SeatPlan, count: number) {
    this.#plan = plan
    this.#load = [...plan.taken]
    const total = plan.taken.reduce((sum, each) => sum + each, count)
    this.#floor = Math.floor(total / plan.bins)
    this.#extras = total % plan.bins
    this.#larger = this.#load.filter((each) => each > this.#floor).length
    this.#crowds = Array.from({ length: plan.bins * plan.sources }, () => new Set<number>())
  }

  /** Seats an item where it costs nothing, if there is room. */
  keep(item: number, bin: number): boolean {
    if (this.#binOf.has(item) || this.#plan.cost(item, bin) !== 0 || !this.#hasRoom(bin) || !this.#hasCrowdRoom(bin, item))
      return false
    this.#put(item, bin)
    return true
  }

  /** Seats an item; others move where that costs less in all. */
  seat(item: number): void {
    if (this.#binOf.has(item)) return
    const free = this.#cheapestFree(item)
    if (free !== undefined) return this.#put(item, free)
    if (this.#movesLeft > 0 && (this.#seatAlong(item, true) || this.#seatAlong(item, false))) return
    const costs = this.#bins.map((bin) => this.#plan.cost(item, bin))
    const [bin] = this.#bins
      .filter((each) => (costs[each] as number) < Number.POSITIVE_INFINITY)
      .sort(
        (a, b) =>
          Number(this.#hasRoom(b)) - Number(this.#hasRoom(a)) ||
          (costs[a] as number) - (costs[b] as number) ||
          this.#loadOf(a) - this.#loadOf(b) ||
          a - b,
      )
    // The last items may find room only where they may not go.
    if (bin !== undefined && !this.#hasRoom(bin)) this.#makeRoom(bin)
    if (bin !== undefined) this.#put(item, bin)
  }

  /** Whatever may go from the bin to one with room does so, whatever it costs. */
  #makeRoom(bin: number): void {
    for (const other of this.#bins.filter((each) => this.#hasRoom(each))) {
      for (const [item, from] of this.#binOf) {
        if (from !== bin || this.#plan.cost(item, other) === Number.POSITIVE_INFINITY) continue
        this.#take(item)
        this.#put(item, other)
        return
      }
    }
  }

  /** The items of each bin, without what was taken before. */
  get shares(): number[][] {
    const shares: number[][] = this.#bins.map(() => [])
    for (const [item, bin] of this.#binOf) shares[bin]?.push(item)
    for (const share of shares) share.sort((a, b) => a - b)
    return shares
  }

  get #bins(): number[] {
    return Array.from({ length: this.#plan.bins }, (_, bin) => bin)
  }

  /** A place that costs as little as any for this item: no other way can cost less. */
  #cheapestFree(item: number): number | undefined {
    let cheapest = Number.POSITIVE_INFINITY
    for (const bin of this.#bins) cheapest = Math.min(cheapest, this.#plan.cost(item, bin))
    if (cheapest === Number.POSITIVE_INFINITY) return undefined
    const [first] = this.#bins
      .filter((bin) => this.#plan.cost(item, bin) === cheapest && this.#hasRoom(bin) && this.#hasCrowdRoom(bin, item))
      .sort((a, b) => this.#loadOf(a) - this.#loadOf(b) || a - b)
    return first
  }

  /** By the path of least cost to a free seat. Nodes are the bins, then the crowds. */
  #seatAlong(item: number, isCrowdMaxKept: boolean): boolean {
    const { bins, sources, cost, sourceOf } = this.#plan
    const dist = new Array<number>(bins + bins * sources).fill(Number.POSITIVE_INFINITY)
    const steps = new Map<number, Step>()
    const queue: number[] = []
    const reach = (node: number, distance: number, step: Step): void => {
      if (distance >= (dist[node] as number)) return
      dist[node] = distance
      steps.set(node, step)
      queue.push(node)
    }
    for (const bin of this.#bins) reach(this.#crowdNode(bin, sourceOf(item)), cost(item, bin), { from: -1, item })
    for (let looks = looksPerNode * dist.length, at = 0; at < queue.length && looks > 0; at++, looks--) {
      const node = queue[at] as number
      this.#lookFrom(node, dist[node] as number, isCrowdMaxKept, reach)
    }
    const [end] = this.#bins
      .filter((bin) => this.#hasRoom(bin) && (dist[bin] as number) < Number.POSITIVE_INFINITY)
      .sort((a, b) => (dist[a] as number) - (dist[b] as number) || this.#loadOf(a) - this.#loadOf(b) || a - b)
    const path = end === undefined ? undefined : pathTo(end, steps)
    if (path === undefined) return false
    for (const [node, moved] of path) {
      const bin = Math.floor((node - bins) / sources)
      this.#take(moved)
      this.#put(moved, bin)
    }
    return true
  }

  #lookFrom(
    node: number,
    distance: number,
    isCrowdMaxKept: boolean,
    reach: (node: number, distance: number, step: Step) => void,
  ): void {
    const { bins, sources, cost, crowdMax } = this.#plan
    if (node < bins) {
      if (this.#hasRoom(node)) return
      // A bin that has its share takes the seat beyond it from one that has it, or gives something else away.
      if (this.#loadOf(node) === this.#floor) {
        for (const other of this.#bins)
          if (this.#loadOf(other) === this.#floor + 1) reach(other, distance, { from: node, item: undefined })
      }
      for (let source = 0; source < sources; source++) {
        const crowd = this.#crowdNode(node, source)
        if (this.#crowd(crowd).size > 0) reach(crowd, distance, { from: node, item: undefined })
      }
      return
    }
    const [bin, source] = [Math.floor((node - bins) / sources), (node - bins) % sources]
    const crowd = this.#crowd(node)
    if (!isCrowdMaxKept || crowd.size < crowdMax(bin, source)) reach(bin, distance, { from: node, item: undefined })
    for (const item of crowd) {
      this.#movesLeft -= bins
      for (const other of this.#bins) {
        if (other === bin) continue
        reach(this.#crowdNode(other, source), distance + cost(item, other) - cost(item, bin), { from: node, item })
      }
    }
  }

  #put(item: number, bin: number): void {
    this.#binOf.set(item, bin)
    this.#load[bin] = this.#loadOf(bin) + 1
    if (this.#loadOf(bin) === this.#floor + 1) this.#larger++
    this.#crowd(this.#crowdNode(bin, this.#plan.sourceOf(item))).add(item)
  }

  #take(item: number): void {
    const bin = this.#binOf.get(item)
    if (bin === undefined) return
    this.#binOf.delete(item)
    this.#load[bin] = this.#loadOf(bin) - 1
    if (this.#loadOf(bin) === this.#floor) this.#larger--
    this.#crowd(this.#crowdNode(bin, this.#plan.sourceOf(item))).delete(item)
  }

  #loadOf(bin: number): number {
    return this.#load[bin] ?? 0
  }

  #hasRoom(bin: number): boolean {
    const load = this.#loadOf(bin)
    if (load < this.#floor) return true
    return load === this.#floor && this.#larger < this.#extras
  }

  #hasCrowdRoom(bin: number, item: number): boolean {
    const source = this.#plan.sourceOf(item)
    return this.#crowd(this.#crowdNode(bin, source)).size < this.#plan.crowdMax(bin, source)
  }

  #crowdNode(bin: number, source: number): number {
    return this.#plan.bins + bin * this.#plan.sources + source
  }

  #crowd(node: number): Set<number> {
    return this.#crowds[node - this.#plan.bins] as Set<number>
  }
}

/** Which items move, and the crowd that each comes to. Undefined: the steps lead nowhere. */
function pathTo(end: number, steps: ReadonlyMap<number, Step>): [node: number, item: number][] | undefined {
  const moves: [number, number][] = []
  const seen = new Set<number>()
  for (let node = end; node !== -1; ) {
    const step = steps.get(node)
    if (step === undefined || seen.has(node)) return undefined
    seen.add(node)
    if (step.item !== undefined) moves.push([node, step.item])
    node = step.from
  }
  return moves
}

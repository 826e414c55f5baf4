/**
 * Assigns many items to few bins at the least cost. Item counts of bins differ by at most one. It is a min-cost flow, found by
 * shortest paths. Pure. The bins are members of a group, the items are partitions. Each item belongs to one source. A pair is a
 * bin and a source; its items are the items of that source in that bin.
 */
import { type Path, ShortestPaths } from './shortest-path.ts'

export interface AssignmentPlan {
  /** Number of bins, numbered from 0. */
  bins: number
  /** Number of items that each bin already has. They stay there. */
  taken: readonly number[]
  /** At least 0; Infinity: forbidden. Deterministic. */
  cost(item: number, bin: number): number
  /**
   * Sources are numbered from 0. `pairItemsMax` is the number of items of one source that a bin takes. It takes more only if there
   * is no other way.
   */
  sources: number
  sourceOf(item: number): number
  pairItemsMax(bin: number, source: number): number
  /** Items that are never in one bin with this one, such as the other copies of a partition. Default: none. */
  apartFrom?(item: number): readonly number[]
}

/**
 * Limit of moves that all searches of one plan examine together. 12 partitions and 3 members take a few hundred moves; 1,024
 * partitions and 20 members take up to some millions. Beyond it an item takes the cheapest free place without moving others: the result is still even, with more
 * cold places. A count and not a time, so that all leaders decide alike.
 */
const movesMax = 2_000_000

const never = Number.POSITIVE_INFINITY

export class MinCostAssignment {
  readonly #plan: AssignmentPlan
  readonly #floor: number
  readonly #extras: number
  readonly #binOf = new Map<number, number>()
  readonly #load: number[]
  /** Items by pair. Empty pairs are left out; most are empty. */
  readonly #pairItems = new Map<number, Set<number>>()
  /** The sources whose items are in each bin, ascending. */
  readonly #sourcesIn: number[][]
  /** Costs of each item, by bin. They are cached, because computing a cost takes longer than all of its uses. */
  readonly #costs: (Float64Array | undefined)[] = []
  /** The same, where Infinity also stands for a bin that has an item from which this one is kept apart. */
  readonly #costsNow: (Float64Array | undefined)[] = []
  /** Bins that have one item more than the floor. */
  #larger: number
  #movesLeft = movesMax
  #search: ShortestPaths | undefined

  /** `count`: the number of items to assign, besides those already taken. */
  constructor(plan: AssignmentPlan, count: number) {
    this.#plan = plan
    this.#load = [...plan.taken]
    const total = plan.taken.reduce((sum, each) => sum + each, count)
    this.#floor = Math.floor(total / plan.bins)
    this.#extras = total % plan.bins
    this.#larger = this.#load.filter((each) => each > this.#floor).length
    this.#sourcesIn = Array.from({ length: plan.bins }, () => [])
  }

  /** Assigns an item to a bin where it costs nothing, if there is room. */
  keep(item: number, bin: number): boolean {
    if (this.#binOf.has(item) || this.#costsOf(item)[bin] !== 0 || !this.#hasRoom(bin) || !this.#hasPairRoom(bin, item))
      return false
    this.#put(item, bin)
    return true
  }

  /** Assigns an item. Others move if that costs less in total. */
  assign(item: number): void {
    if (this.#binOf.has(item)) return
    const free = this.#cheapestFree(item)
    if (free !== undefined) return this.#put(item, free)
    if (this.#movesLeft > 0 && (this.#assignAlongPath(item, true) || this.#assignAlongPath(item, false))) return
    const costs = this.#costsOf(item)
    const bin = this.#least(
      (each) => (costs[each] as number) < never,
      (a, b) => Number(this.#hasRoom(b)) - Number(this.#hasRoom(a)) || (costs[a] as number) - (costs[b] as number),
    )
    // For the last items, the only free places may be forbidden ones.
    if (bin !== undefined && !this.#hasRoom(bin)) this.#makeRoom(bin)
    if (bin !== undefined) this.#put(item, bin)
  }

  /** Moves any possible item from the bin to one with room, whatever it costs. */
  #makeRoom(bin: number): void {
    for (let other = 0; other < this.#plan.bins; other++) {
      if (!this.#hasRoom(other)) continue
      for (const [item, from] of this.#binOf) {
        if (from !== bin || this.#costsOf(item)[other] === never) continue
        this.#take(item)
        this.#put(item, other)
        return
      }
    }
  }

  /** The items of each bin, without those taken before. */
  get shares(): number[][] {
    const shares: number[][] = this.#load.map(() => [])
    for (const [item, bin] of this.#binOf) shares[bin]?.push(item)
    for (const share of shares) share.sort((a, b) => a - b)
    return shares
  }

  /** The first of the least loaded bins, in the order of `compare`. */
  #least(isMeant: (bin: number) => boolean, compare: (a: number, b: number) => number): number | undefined {
    let best: number | undefined
    for (let bin = 0; bin < this.#plan.bins; bin++) {
      if (!isMeant(bin)) continue
      if (best === undefined || (compare(bin, best) || this.#loadOf(bin) - this.#loadOf(best)) < 0) best = bin
    }
    return best
  }

  /** A place with the lowest cost for this item: no other way can cost less. */
  #cheapestFree(item: number): number | undefined {
    const costs = this.#costsOf(item)
    let cheapest = never
    for (const cost of costs) if (cost < cheapest) cheapest = cost
    if (cheapest === never) return undefined
    return this.#least(
      (bin) => costs[bin] === cheapest && this.#hasRoom(bin) && this.#hasPairRoom(bin, item),
      () => 0,
    )
  }

  /** Moves items along the path of least cost to a bin with room. */
  #assignAlongPath(item: number, isPairMaxKept: boolean): boolean {
    const { bins, sources, pairItemsMax, sourceOf } = this.#plan
    this.#search ??= new ShortestPaths({
      ...{ bins, sources, pairItemsMax, floor: this.#floor },
      loadOf: (bin) => this.#loadOf(bin),
      hasRoom: (bin) => this.#hasRoom(bin),
      costsOf: (each) => this.#costsOf(each),
      sourcesIn: (bin) => this.#sourcesIn[bin] as number[],
      pairItemsOf: (bin, source) => this.#pairItems.get(bin * sources + source),
    })
    const search = this.#search
    this.#movesLeft -= search.from(item, sourceOf(item), isPairMaxKept)
    const end = this.#least(
      (bin) => this.#hasRoom(bin) && search.distanceTo(bin) < never,
      (a, b) => search.distanceTo(a) - search.distanceTo(b),
    )
    const path: Path | undefined = end === undefined ? undefined : search.pathTo(end)
    if (path === undefined) return false
    for (const [bin, moved] of path) {
      this.#take(moved)
      this.#put(moved, bin)
    }
    return true
  }

  #costsOf(item: number): Float64Array {
    const known = this.#costsNow[item]
    if (known !== undefined) return known
    const costs = new Float64Array(this.#plan.bins)
    for (let bin = 0; bin < costs.length; bin++) costs[bin] = this.#plan.cost(item, bin)
    this.#costs[item] = costs
    const apart = this.#apartFrom(item)
    const now = apart.length === 0 ? costs : Float64Array.from(costs)
    for (const other of apart) {
      const bin = this.#binOf.get(other)
      if (bin !== undefined) now[bin] = never
    }
    this.#costsNow[item] = now
    return now
  }

  #apartFrom(item: number): readonly number[] {
    return this.#plan.apartFrom?.(item) ?? []
  }

  #put(item: number, bin: number): void {
    this.#binOf.set(item, bin)
    for (const other of this.#apartFrom(item)) {
      const costs = this.#costsNow[other]
      if (costs !== undefined) costs[bin] = never
    }
    this.#load[bin] = this.#loadOf(bin) + 1
    if (this.#loadOf(bin) === this.#floor + 1) this.#larger++
    const { sources, sourceOf } = this.#plan
    const source = sourceOf(item)
    const items = this.#pairItems.get(bin * sources + source)
    if (items !== undefined) return void items.add(item)
    this.#pairItems.set(bin * sources + source, new Set([item]))
    const here = this.#sourcesIn[bin] as number[]
    const place = here.findIndex((other) => other > source)
    here.splice(place < 0 ? here.length : place, 0, source)
  }

  #take(item: number): void {
    const bin = this.#binOf.get(item)
    if (bin === undefined) return
    this.#binOf.delete(item)
    for (const other of this.#apartFrom(item)) {
      const costs = this.#costsNow[other]
      if (costs !== undefined) costs[bin] = this.#costs[other]?.[bin] ?? never
    }
    this.#load[bin] = this.#loadOf(bin) - 1
    if (this.#loadOf(bin) === this.#floor) this.#larger--
    const { sources, sourceOf } = this.#plan
    const source = sourceOf(item)
    const items = this.#pairItems.get(bin * sources + source)
    items?.delete(item)
    if (items?.size !== 0) return
    this.#pairItems.delete(bin * sources + source)
    const here = this.#sourcesIn[bin] as number[]
    here.splice(here.indexOf(source), 1)
  }

  #loadOf(bin: number): number {
    return this.#load[bin] ?? 0
  }

  #hasRoom(bin: number): boolean {
    const load = this.#loadOf(bin)
    if (load < this.#floor) return true
    return load === this.#floor && this.#larger < this.#extras
  }

  #hasPairRoom(bin: number, item: number): boolean {
    const { sources, sourceOf, pairItemsMax } = this.#plan
    const source = sourceOf(item)
    return (this.#pairItems.get(bin * sources + source)?.size ?? 0) < pairItemsMax(bin, source)
  }
}

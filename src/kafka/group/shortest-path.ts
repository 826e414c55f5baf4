/**
 * The path search of min-cost-assignment.ts: the path of least cost by which an item gets a place. It goes over bins, and over
 * pairs of a bin and a source whose items may move elsewhere. Its arrays are reused for each search, and only the touched parts are
 * reset: a group of a thousand has a million pairs.
 */
export interface AssignmentView {
  bins: number
  sources: number
  /** Minimum number of items of each bin in the end. */
  floor: number
  pairItemsMax(bin: number, source: number): number
  loadOf(bin: number): number
  hasRoom(bin: number): boolean
  /** Costs of an item, by bin. */
  costsOf(item: number): Float64Array
  /** The sources whose items are in a bin, ascending. */
  sourcesIn(bin: number): readonly number[]
  pairItemsOf(bin: number, source: number): ReadonlySet<number> | undefined
}

/** Which items move where, last move first. */
export type Path = [bin: number, item: number][]

/** Maximum number of steps in one search for an item, for each node. Consistent costs never need so many. */
const looksPerNode = 64

const never = Number.POSITIVE_INFINITY
const noItem = -1
const start = -1

/** Nodes are the bins, then the pairs of a bin and a source. */
export class ShortestPaths {
  readonly #view: AssignmentView
  readonly #distances: Float64Array
  /** The distance of a node at its last visit: a second visit with the same distance finds nothing new. */
  readonly #visited: Float64Array
  readonly #parents: Int32Array
  readonly #items: Int32Array
  /** Queue of nodes to visit. A node whose distance has decreased since enters it again. */
  readonly #queue: number[] = []

  constructor(view: AssignmentView) {
    this.#view = view
    const nodes = view.bins * (1 + view.sources)
    this.#distances = new Float64Array(nodes).fill(never)
    this.#visited = new Float64Array(nodes).fill(never)
    this.#parents = new Int32Array(nodes)
    this.#items = new Int32Array(nodes)
  }

  /** Searches from an item without a place. Returns the number of moves examined. */
  from(item: number, source: number, isPairMaxKept: boolean): number {
    this.#reset()
    const { bins, sources, costsOf } = this.#view
    const costs = costsOf(item)
    for (let bin = 0; bin < bins; bin++) this.#reach(bins + bin * sources + source, costs[bin] as number, start, item)
    const queue = this.#queue
    let moves = 0
    for (let looks = looksPerNode * this.#distances.length, at = 0; at < queue.length && looks > 0; at++, looks--) {
      const node = queue[at] as number
      moves += node < bins ? this.#relaxBin(node) : this.#relaxPair(node, isPairMaxKept)
    }
    return moves
  }

  distanceTo(bin: number): number {
    return this.#distances[bin] as number
  }

  /** Undefined: the steps lead nowhere. */
  pathTo(end: number): Path | undefined {
    const { bins, sources } = this.#view
    const moves: Path = []
    const seen = new Set<number>()
    for (let node = end; node !== start; node = this.#parents[node] as number) {
      if (this.#distances[node] === never || seen.has(node)) return undefined
      seen.add(node)
      const item = this.#items[node] as number
      if (item !== noItem) moves.push([Math.floor((node - bins) / sources), item])
    }
    return moves
  }

  #reset(): void {
    for (const node of this.#queue) {
      this.#distances[node] = never
      this.#visited[node] = never
    }
    this.#queue.length = 0
  }

  #reach(node: number, distance: number, from: number, item: number): void {
    if (distance >= (this.#distances[node] as number)) return
    this.#distances[node] = distance
    this.#parents[node] = from
    this.#items[node] = item
    this.#queue.push(node)
  }

  #isNearer(node: number): boolean {
    const distance = this.#distances[node] as number
    if (distance === this.#visited[node]) return false
    this.#visited[node] = distance
    return true
  }

  #relaxBin(bin: number): number {
    const { bins, sources, floor, loadOf, hasRoom, sourcesIn } = this.#view
    if (hasRoom(bin) || !this.#isNearer(bin)) return 0
    const distance = this.#distances[bin] as number
    // A full bin takes the place above the floor from a bin that has one, or gives an item away.
    if (loadOf(bin) === floor)
      for (let other = 0; other < bins; other++) if (loadOf(other) === floor + 1) this.#reach(other, distance, bin, noItem)
    for (const source of sourcesIn(bin)) this.#reach(bins + bin * sources + source, distance, bin, noItem)
    return 0
  }

  #relaxPair(node: number, isPairMaxKept: boolean): number {
    const { bins, sources, pairItemsMax, costsOf, pairItemsOf } = this.#view
    const bin = Math.floor((node - bins) / sources)
    const source = (node - bins) % sources
    const items = pairItemsOf(bin, source)
    const size = items?.size ?? 0
    // A repeated visit counts again: how far a plan gets must not depend on the efficiency of the search.
    if (!this.#isNearer(node)) return size * bins
    const distance = this.#distances[node] as number
    if (!isPairMaxKept || size < pairItemsMax(bin, source)) this.#reach(bin, distance, node, noItem)
    for (const item of items ?? []) {
      const costs = costsOf(item)
      const without = costs[bin] as number
      let other = bins + source
      for (let to = 0; to < bins; to++, other += sources)
        if (to !== bin) this.#reach(other, distance + (costs[to] as number) - without, node, item)
    }
    return size * bins
  }
}

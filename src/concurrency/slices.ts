/** Slices of a list by count and bytes, for work that is done in bounded steps, such as transactions. */

/**
 * In order, and each with at most `countMax` items and `bytesMax` bytes. A single item with more bytes is a slice of its own.
 * `bytesOf`: default 0, so that only their number counts.
 */
export function* slices<Item>(
  items: readonly Item[],
  countMax: number,
  bytesMax = Number.POSITIVE_INFINITY,
  bytesOf: (item: Item) => number = () => 0,
): Generator<Item[]> {
  let first = 0
  let bytes = 0
  for (const [at, item] of items.entries()) {
    const size = bytesOf(item)
    if (at - first === countMax || (at > first && bytes + size > bytesMax)) {
      yield items.slice(first, at)
      first = at
      bytes = 0
    }
    bytes += size
  }
  if (first < items.length) yield items.slice(first)
}

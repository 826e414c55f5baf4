/** Writes many items in batches. */

const batchSize = 1_000

function* batches<Item>(items: Iterable<Item>): Generator<Item[]> {
  let batch: Item[] = []
  for (const item of items) {
    batch.push(item)
    if (batch.length < batchSize) continue
    yield batch
    batch = []
  }
  if (batch.length > 0) yield batch
}

/** Writes batch after batch, with at most `inFlight` of them on their way. */
export async function writeBatches<Item>(
  items: Iterable<Item>,
  inFlight: number,
  write: (batch: Item[]) => Promise<unknown>,
): Promise<void> {
  const open = new Set<Promise<unknown>>()
  for (const batch of batches(items)) {
    const writing: Promise<unknown> = write(batch).finally(() => open.delete(writing))
    open.add(writing)
    if (open.size >= inFlight) await Promise.race(open)
  }
  await Promise.all(open)
}

/**
 * partitions: one owner of many partitions. The figure is the lateness of 1,000 starts a second after 40 s of the same load,
 * beside the same with four partitions in the same run. It tells most on several brokers.
 */
import { type Bed, Stage } from '../tools/bed.ts'
import { steady } from './precision.ts'

const firedMax = 30_000
const fewPartitions = 4

/** `n`: partitions. */
export async function partitions(bed: Bed, n = 64): Promise<Record<string, unknown>> {
  const results: Record<string, unknown> = { n, brokers: bed.brokers.length, replication: bed.replication }
  for (const count of [fewPartitions, n]) {
    const stage = await Stage.open(bed, count)
    try {
      const executor = await stage.start('executor,retrier', 'executor')
      const owner = await stage.start('scheduler', 'owner')
      // Three brokers on a small machine need a minute until their code is compiled. Ids that begin with warm- are counted apart.
      await steady(stage, { owner, executor, n: firedMax, name: 'warm-first' })
      results[count === n ? 'many' : 'few'] = {
        readyMs: Math.round(owner.readyMs),
        ...(await steady(stage, { owner, executor, n: firedMax })),
        rssPeakMb: Math.round((await owner.report()).rssPeakBytes / 2 ** 20),
      }
    } finally {
      await stage.close()
    }
  }
  return results
}

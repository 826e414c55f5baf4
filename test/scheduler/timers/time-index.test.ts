/** The memory of the time index: its keys stay for long, and must not hold what was allocated beside them. */
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { expect, it } from 'vitest'
import { TimeIndex } from '../../../src/scheduler/timers/time-index.ts'
import { timerKind } from '../../../streams/state/keys.ts'
import { memoryStore } from '../../tools/memory-store.ts'

it('a thousand timers hold their keys alone, and not the buffers that were made between them', async () => {
  setFlagsFromString('--expose-gc')
  const collect = runInNewContext('gc') as () => void
  const index = new TimeIndex(memoryStore())
  await index.take(0, 1)
  collect()
  const before = process.memoryUsage().arrayBuffers
  for (let at = 1; at <= 1_000; at++) {
    index.scheduled({ dueAt: at, kind: timerKind.fire, jobId: `job-${at}`, runNo: 0 })
    // As much as the rest of a commit cycle: Node begins another part of its pool.
    for (let bytes = 0; bytes < Buffer.poolSize; bytes += 1_024) Buffer.allocUnsafe(1_024)
  }
  collect()
  expect((process.memoryUsage().arrayBuffers - before) / 1_048_576).toBeLessThan(30)
  expect(index.nextDue).toBe(1)
})

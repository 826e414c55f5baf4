/** Reports that the brokers refuse, and the reports sent with them. */
import { describe, expect, it } from 'vitest'
import { DuelogError } from '../../src/ground/errors/errors.ts'
import { eventLingerMs } from '../../src/worker/executor/report/report-sender.ts'
import { rest } from '../tools/manual-clock.ts'
import { Harness } from './harness.ts'

describe('a report whose content the brokers refuse', () => {
  it('delays no other report, and the run fails with the reason', async () => {
    const harness = await new Harness({ large: () => 'x'.repeat(20_000), small: () => 'done' }).start()
    harness.log.refusalOf = (records) =>
      records.some(({ value }) => (value?.length ?? 0) > 10_000)
        ? new DuelogError('payload-too-large', 'The topic is small.')
        : undefined
    for (const jobId of ['a', 'b', 'c']) harness.put({ jobId, handler: jobId === 'b' ? 'large' : 'small' })
    await rest()
    await harness.clock.advance(eventLingerMs)
    expect(harness.events().map(({ jobId, type }) => `${jobId} ${type}`)).toEqual(['a SUCCEEDED', 'c SUCCEEDED'])
    await harness.clock.advance(10_000)
    const [last, ...more] = harness.events().slice(2)
    expect(more).toEqual([])
    expect(last).toMatchObject({ jobId: 'b', type: 'FAILED', result: null })
    expect(last?.error).toMatchObject({ type: 'report-refused', message: 'The topic is small.', retryable: false })
    expect(harness.starts).toHaveLength(3)
    expect(harness.committed()).toBe(3)
    await harness.stop()
  })

  it('a temporary error makes no run fail', async () => {
    const harness = await new Harness({ small: () => 'done' }).start()
    harness.log.refusal = new DuelogError('broker-unavailable', 'No broker.')
    for (const jobId of ['a', 'b']) harness.put({ jobId, handler: 'small' })
    await rest()
    await harness.clock.advance(5_000)
    harness.log.refusal = undefined
    await harness.clock.advance(5_000)
    expect(harness.events().map(({ jobId, type }) => `${jobId} ${type}`)).toEqual(['a SUCCEEDED', 'b SUCCEEDED'])
    await harness.stop()
  })
})

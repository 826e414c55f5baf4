/** A partition that fails repeatedly: it says so without filling the log. */
import { expect, test, vi } from 'vitest'
import type { Shared } from '../../../src/scheduler/options/options.ts'
import { ReopenLines } from '../../../src/scheduler/partition/reopen.ts'

test('the first failure is logged, each of another kind too, and the same kind once a minute with its count', () => {
  let nowMs = 0
  const warn = vi.fn()
  const lines = new ReopenLines(3, { clock: { steadyMs: () => nowMs }, logger: { warn } } as unknown as Shared)
  const away = new Error('away')
  for (let failures = 0; failures < 200; failures++, nowMs += 500) lines.log(away, 'broker-unavailable', failures)
  expect(warn.mock.calls.map(([facts]) => facts.failures)).toEqual([undefined, 121])
  lines.log(new Error('odd'), 'internal', 200)
  lines.log(away, 'broker-unavailable', 201)
  expect(warn).toHaveBeenCalledTimes(4)
  // It worked in between.
  lines.log(away, 'broker-unavailable', 0)
  expect(warn).toHaveBeenCalledTimes(5)
  expect(warn).toHaveBeenLastCalledWith({ event: 'partition-reopened', err: away, partition: 3 }, 'Partition 3 is reopened: away')
})

test('a process says once that its system was moved, whichever of its partitions finds out', () => {
  const said: string[] = []
  const logger = { error: (_facts: object, sentence: string) => said.push(sentence), warn: () => said.push('a warning') }
  const shared = { clock: { steadyMs: () => 0 }, logger } as unknown as Shared
  const moved = new Error('The system duelog.* was moved to duelog2.*.')
  for (let failures = 0; failures < 10; failures++)
    for (const partition of [0, 1, 2]) new ReopenLines(partition, shared).log(moved, 'system-moved', failures)
  expect(said).toEqual([moved.message])
})

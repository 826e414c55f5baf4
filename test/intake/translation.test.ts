/** Input from a foreign record is limited before it is written: a record that the log refuses must not block later ones. */
import { pino } from 'pino'
import { expect, it } from 'vitest'
import { newMetrics } from '../../src/ground/metrics/metrics.ts'
import type { IntakeOptions } from '../../src/worker/intake/options.ts'
import { translated } from '../../src/worker/intake/translation.ts'
import { codecs, names } from '../model/world.ts'

const metrics = newMetrics()
const options = {
  definition: codecs.definition,
  names,
  metrics,
  targets: { problem: () => undefined },
  logger: pino({ level: 'silent' }),
} as unknown as IntakeOptions

const record = (headers: Record<string, Buffer>) => ({
  topic: 'schedules',
  partition: 0,
  offset: 7,
  timestampMs: 0,
  key: Buffer.from('a'),
  value: Buffer.from('v'),
  headers: { 'scheduler-epoch': Buffer.from('1893456000'), 'scheduler-target-topic': Buffer.from('t'), ...headers },
})

it('accepts the schedule and drops a receipt request that is too long', async () => {
  const reply = { 'duelog-reply-topic': Buffer.from('replies'), 'duelog-correlation-id': Buffer.alloc(900_000) }
  const made = translated(options, 'etf1', record(reply))
  expect(made).toMatchObject({ key: 'a', headers: { 'duelog-source': 'schedules/0/7' } })
  expect(Object.keys(made?.headers ?? {})).toEqual(['duelog-source'])
  expect(await metrics.registry.getSingleMetricAsString('duelog_receipts_dropped_total')).toContain(' 1')
  const fits = translated(options, 'etf1', record({ ...reply, 'duelog-correlation-id': Buffer.from('c') }))
  expect(Object.keys(fits?.headers ?? {})).toEqual(['duelog-source', 'duelog-reply-topic', 'duelog-correlation-id'])
})

it('refuses a schedule that is over a limit, with the reason in its receipt', async () => {
  const made = translated(options, 'etf1', {
    ...record({ 'duelog-reply-topic': Buffer.from('replies') }),
    value: Buffer.alloc(600_000),
  })
  expect(made).toMatchObject({ topic: 'replies', key: 'a' })
  expect(JSON.parse(String(made?.value))).toMatchObject({
    outcome: 'rejected',
    offset: 7,
    reason: expect.stringContaining('payload'),
  })
})

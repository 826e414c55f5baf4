/** A worker waits for a registry that starts after its broker. */
import { expect, test } from 'vitest'
import { DuelogError } from '../../src/ground/errors/errors.ts'
import { clusterOf, whenRegistryIsUp } from '../../src/log/cluster/cluster.ts'
import { ManualClock, rest } from '../tools/manual-clock.ts'

const down = (): DuelogError => new DuelogError('registry-unavailable', 'down')

function waiting(answers: (() => Promise<string>)[], isClosed = () => false) {
  const clock = new ManualClock()
  const said: unknown[] = []
  let asked = 0
  const open = (): Promise<string> => answers[Math.min(asked++, answers.length - 1)]?.() ?? Promise.reject(down())
  const opened = whenRegistryIsUp(open, {
    clock,
    logger: { warn: (fields: unknown) => void said.push(fields) } as never,
    isClosed,
  })
  opened.catch(() => {})
  return { clock, said, opened, asked: () => asked }
}

test('it is tried again until it answers, and said once', async () => {
  const no = () => Promise.reject(down())
  const { clock, said, opened } = waiting([no, no, () => Promise.resolve('open')])
  for (let step = 0; step < 4; step++) {
    await rest()
    clock.advance(500)
  }
  expect(await opened).toBe('open')
  expect(said).toHaveLength(1)
})

test('after 20 s, for another error and for a closed worker the error is that of the registry', async () => {
  const late = waiting([() => Promise.reject(down())])
  for (let step = 0; step < 45; step++) {
    await rest()
    late.clock.advance(500)
  }
  await expect(late.opened).rejects.toThrow('down')
  expect(late.asked()).toBeGreaterThan(30)
  const denied = waiting([() => Promise.reject(new DuelogError('bad-config', 'no password'))])
  await expect(denied.opened).rejects.toThrow('no password')
  const closed = waiting([() => Promise.reject(down())], () => true)
  await expect(closed.opened).rejects.toThrow('down')
})

test('an address that was given is not called a default', async () => {
  const { openCodecs } = clusterOf({ brokers: '127.0.0.1:1', registryUrl: 'http://127.0.0.1:1' })
  await expect(openCodecs(['default'])).rejects.not.toThrow('registryUrl')
})

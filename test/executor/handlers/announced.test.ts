/** The names of handlers that a worker announces, and the limits beyond which it announces none. */
import { describe, expect, it } from 'vitest'
import { GroupNotKept } from '../../../src/ground/errors/errors.ts'
import { announcedBytesMax, announcedHandlers, announcedMax } from '../../../src/worker/executor/handlers/prepared-handlers.ts'
import { LoopbackLog } from '../../tools/loopback-log.ts'
import { rest } from '../../tools/manual-clock.ts'
import { Harness } from '../harness.ts'

const named = (names: string[]) => Object.fromEntries(names.map((name) => [name, () => undefined]))

describe('The announced handlers', () => {
  it('are the names, sorted', () => {
    expect(announcedHandlers(named(['send-mail', 'http', 'noop']))).toEqual(['http', 'noop', 'send-mail'])
    expect(announcedHandlers({})).toEqual([])
  })

  it('are unknown beyond the number of names', () => {
    const names = Array.from({ length: announcedMax }, (_, at) => `h${at}`)
    expect(announcedHandlers(named(names))).toHaveLength(announcedMax)
    expect(announcedHandlers(named([...names, 'one-more']))).toBeNull()
  })

  it('are unknown beyond the bytes of all names, not their characters', () => {
    expect(announcedHandlers(named(['é'.repeat(announcedBytesMax / 2)]))).toHaveLength(1)
    expect(announcedHandlers(named(['é'.repeat(announcedBytesMax / 2), 'a']))).toBeNull()
  })
})

describe('A group that the brokers cannot keep', () => {
  const notKept = new GroupNotKept('exec.default', new Error('UNKNOWN'))
  const announced = ({ log }: Harness) =>
    log.readers.filter(({ options }) => options.assignment === 'open').map(({ options }) => options.userData?.())

  it('is joined again at once without the names if a worker starts, and the worker fails if that is in vain', async () => {
    const log = new LoopbackLog()
    const harness = new Harness({}, {}, { log })
    const { reader } = log
    log.reader = (options) => {
      const made = reader.call(log, options)
      if ((options.userData?.() as { handlers?: unknown } | undefined)?.handlers != null)
        made.start = () => Promise.reject(notKept)
      return made
    }
    await harness.start()
    expect(announced(harness)).toEqual([expect.anything(), expect.objectContaining({ handlers: null })])
    await harness.stop()
    const failing = new Harness()
    const original = failing.log.reader
    failing.log.reader = (options) => {
      const made = original.call(failing.log, options)
      if (options.assignment === 'open') made.start = () => Promise.reject(notKept)
      return made
    }
    await expect(failing.start()).rejects.toBe(notKept)
    await failing.stop()
  })

  it('is joined again without the names by a worker that has lost it, and for another loss with them', async () => {
    const harness = await new Harness({ mail: () => undefined }).start()
    harness.reader.crash(new Error('session lost'))
    await harness.clock.advance(1_000)
    await rest()
    expect(harness.reader.options.userData?.()).toMatchObject({ handlers: ['mail', 'noop'] })
    harness.reader.crash(notKept)
    await harness.clock.advance(10_000)
    await rest()
    expect(harness.reader.running).toBe(true)
    expect(harness.reader.options.userData?.()).toMatchObject({ handlers: null, pool: 'default' })
    await harness.stop()
  })
})

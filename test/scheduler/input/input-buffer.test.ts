import { describe, expect, test } from 'vitest'
import { type Mail, Mailbox, type Source } from '../../../src/scheduler/input/input-buffer.ts'

const mail = (source: Source, offset: number, bytes = 10): Mail => ({
  source,
  offset,
  jobId: `job-${offset}`,
  input: undefined,
  value: null,
  bytes,
  moved: undefined,
})
const filled = (...entries: [Source, number][]): Mailbox => {
  const mailbox = new Mailbox()
  for (const [source, offset] of entries) mailbox.put(mail(source, offset))
  return mailbox
}
const shown = (mails: Mail[]): string[] => mails.map(({ source, offset }) => `${source} ${offset}`)

describe('a mailbox', () => {
  test('gives the oldest first, within both limits but for the first', () => {
    const mailbox = filled(['jobs', 1], ['events', 1], ['jobs', 2])
    expect(shown(mailbox.take(1, 1))).toEqual(['jobs 1'])
    expect(shown(mailbox.take(10, 15))).toEqual(['events 1'])
    expect(shown(mailbox.take(10, 15))).toEqual(['jobs 2'])
    expect(mailbox.depth).toBe(0)
  })

  test('gives definitions alone where that is asked for, once, and all else afterwards in its order', () => {
    const mailbox = filled(['events', 1], ['jobs', 1], ['commands', 1], ['jobs', 2], ['events', 2])
    mailbox.definitionsNext()
    expect(shown(mailbox.take(10, 1_000))).toEqual(['jobs 1', 'jobs 2'])
    expect([mailbox.depth, mailbox.hasDefinitions, mailbox.urgent]).toEqual([3, false, true])
    expect(shown(mailbox.take(10, 1_000))).toEqual(['events 1', 'commands 1', 'events 2'])
    expect([mailbox.depth, mailbox.urgent]).toEqual([0, false])
  })

  test('keeps the order of definitions that did not fit, and of what was put back', () => {
    const mailbox = filled(['events', 1], ['jobs', 1], ['jobs', 2], ['jobs', 3])
    mailbox.definitionsNext()
    const taken = mailbox.take(2, 1_000)
    expect(shown(taken)).toEqual(['jobs 1', 'jobs 2'])
    mailbox.putBack(taken.slice(1))
    expect(mailbox.hasDefinitions).toBe(true)
    const rest = mailbox.take(10, 1_000)
    expect(shown(rest.filter(({ source }) => source === 'jobs'))).toEqual(['jobs 2', 'jobs 3'])
    expect(rest).toHaveLength(3)
    expect(mailbox.hasDefinitions).toBe(false)
  })

  test('says that its oldest has waited for a turn with room, also after definitions alone were taken', () => {
    const mailbox = filled(['events', 1], ['jobs', 1], ['events', 2])
    mailbox.putBack(mailbox.take(10, 1_000))
    expect(mailbox.hasWaited).toBe(true)
    mailbox.definitionsNext()
    mailbox.take(10, 1_000)
    expect(mailbox.hasWaited).toBe(true)
    const [, second] = mailbox.take(10, 1_000)
    expect(mailbox.hasWaited).toBe(false)
    if (second !== undefined) mailbox.putBack([second])
    expect(mailbox.hasWaited).toBe(false)
  })

  test('counts what it holds whatever way it was taken', () => {
    const mailbox = new Mailbox()
    for (let offset = 0; offset < 900; offset++) mailbox.put(mail(offset % 3 === 0 ? 'jobs' : 'events', offset, 10_000))
    expect(mailbox.full).toBe(true)
    mailbox.definitionsNext()
    expect(mailbox.take(1_000, 100_000_000)).toHaveLength(300)
    expect(mailbox.full).toBe(false)
    mailbox.take(1_000, 100_000_000)
    expect([mailbox.depth, mailbox.roomy, mailbox.hasDefinitions]).toEqual([0, true, false])
  })

  test('forgets all when it is cleared', () => {
    const mailbox = filled(['commands', 1], ['jobs', 1])
    mailbox.definitionsNext()
    mailbox.clear()
    mailbox.put(mail('events', 5))
    expect([mailbox.urgent, mailbox.hasDefinitions]).toEqual([false, false])
    expect(shown(mailbox.take(10, 1_000))).toEqual(['events 5'])
  })
})

import { describe, expect, test } from 'vitest'
import { InputBuffer, type InputRecord, type Source } from '../../../src/scheduler/input/input-buffer.ts'

const inputRecord = (source: Source, offset: number, bytes = 10): InputRecord => ({
  source,
  offset,
  jobId: `job-${offset}`,
  input: undefined,
  value: null,
  bytes,
  moved: undefined,
})
const filled = (...entries: [Source, number][]): InputBuffer => {
  const inputBuffer = new InputBuffer()
  for (const [source, offset] of entries) inputBuffer.put(inputRecord(source, offset))
  return inputBuffer
}
const shown = (inputRecords: InputRecord[]): string[] => inputRecords.map(({ source, offset }) => `${source} ${offset}`)

describe('an input buffer', () => {
  test('gives the oldest first, within both limits except for the first', () => {
    const inputBuffer = filled(['jobs', 1], ['events', 1], ['jobs', 2])
    expect(shown(inputBuffer.take(1, 1))).toEqual(['jobs 1'])
    expect(shown(inputBuffer.take(10, 15))).toEqual(['events 1'])
    expect(shown(inputBuffer.take(10, 15))).toEqual(['jobs 2'])
    expect(inputBuffer.depth).toBe(0)
  })

  test('gives only definitions on request, once, and everything else afterwards in its order', () => {
    const inputBuffer = filled(['events', 1], ['jobs', 1], ['commands', 1], ['jobs', 2], ['events', 2])
    inputBuffer.definitionsNext()
    expect(shown(inputBuffer.take(10, 1_000))).toEqual(['jobs 1', 'jobs 2'])
    expect([inputBuffer.depth, inputBuffer.hasDefinitions, inputBuffer.urgent]).toEqual([3, false, true])
    expect(shown(inputBuffer.take(10, 1_000))).toEqual(['events 1', 'commands 1', 'events 2'])
    expect([inputBuffer.depth, inputBuffer.urgent]).toEqual([0, false])
  })

  test('keeps the order of definitions that did not fit, and of records that were put back', () => {
    const inputBuffer = filled(['events', 1], ['jobs', 1], ['jobs', 2], ['jobs', 3])
    inputBuffer.definitionsNext()
    const taken = inputBuffer.take(2, 1_000)
    expect(shown(taken)).toEqual(['jobs 1', 'jobs 2'])
    inputBuffer.putBack(taken.slice(1))
    expect(inputBuffer.hasDefinitions).toBe(true)
    const rest = inputBuffer.take(10, 1_000)
    expect(shown(rest.filter(({ source }) => source === 'jobs'))).toEqual(['jobs 2', 'jobs 3'])
    expect(rest).toHaveLength(3)
    expect(inputBuffer.hasDefinitions).toBe(false)
  })

  test('reports that its oldest record has waited for a batch with room, also after only definitions were taken', () => {
    const inputBuffer = filled(['events', 1], ['jobs', 1], ['events', 2])
    inputBuffer.putBack(inputBuffer.take(10, 1_000))
    expect(inputBuffer.hasWaited).toBe(true)
    inputBuffer.definitionsNext()
    inputBuffer.take(10, 1_000)
    expect(inputBuffer.hasWaited).toBe(true)
    const [, second] = inputBuffer.take(10, 1_000)
    expect(inputBuffer.hasWaited).toBe(false)
    if (second !== undefined) inputBuffer.putBack([second])
    expect(inputBuffer.hasWaited).toBe(false)
  })

  test('counts its records in each way of taking', () => {
    const inputBuffer = new InputBuffer()
    for (let offset = 0; offset < 900; offset++)
      inputBuffer.put(inputRecord(offset % 3 === 0 ? 'jobs' : 'events', offset, 10_000))
    expect(inputBuffer.full).toBe(true)
    inputBuffer.definitionsNext()
    expect(inputBuffer.take(1_000, 100_000_000)).toHaveLength(300)
    expect(inputBuffer.full).toBe(false)
    inputBuffer.take(1_000, 100_000_000)
    expect([inputBuffer.depth, inputBuffer.roomy, inputBuffer.hasDefinitions]).toEqual([0, true, false])
  })

  test('forgets everything when it is cleared', () => {
    const inputBuffer = filled(['commands', 1], ['jobs', 1])
    inputBuffer.definitionsNext()
    inputBuffer.clear()
    inputBuffer.put(inputRecord('events', 5))
    expect([inputBuffer.urgent, inputBuffer.hasDefinitions]).toEqual([false, false])
    expect(shown(inputBuffer.take(10, 1_000))).toEqual(['events 5'])
  })
})

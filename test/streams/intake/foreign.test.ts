/**
 * The translation of other schedulers' records: a pure function of each record, so a repeated translation has the same result.
 */
import { describe, expect, it } from 'vitest'
import { fromEtf1 } from '../../../streams/intake/etf1.ts'
import { type ForeignRecord, jobIdOf } from '../../../streams/intake/foreign.ts'
import { fromKarafka } from '../../../streams/intake/karafka.ts'

const record = (headers: Record<string, string>, more: Partial<ForeignRecord> = {}): ForeignRecord => ({
  topic: 'schedules',
  partition: 3,
  offset: 41,
  timestampMs: 1_607_918_336_500,
  key: Buffer.from('vid1-online'),
  value: Buffer.from('video 1'),
  headers: Object.fromEntries(Object.entries(headers).map(([name, text]) => [name, Buffer.from(text)])),
  ...more,
})

const etf1 = { 'scheduler-epoch': '1893456000', 'scheduler-target-topic': 'online-videos', 'scheduler-target-key': 'vid1' }
const karafka = {
  schedule_schema_version: '1.0.0',
  schedule_source_type: 'schedule',
  schedule_target_epoch: '1893456000',
  schedule_target_topic: 'orders',
  schedule_target_key: 'o1',
}

describe('the id of a job', () => {
  it('is the key if it is a valid id, otherwise its bytes in base64url, otherwise its position', () => {
    expect(jobIdOf(record({}))).toBe('vid1-online')
    expect(jobIdOf(record({}, { key: Buffer.from([0, 255]) }))).toBe('b64:AP8')
    expect(jobIdOf(record({}, { key: null }))).toBe('schedules/3/41')
    expect(jobIdOf(record({}, { key: Buffer.alloc(255) }))).toBeUndefined()
    const long = { ...record({}, { key: null }), topic: 'x'.repeat(249) }
    expect(jobIdOf({ ...long, offset: 9 })).toBe(`${long.topic}/3/9`)
    expect(fromEtf1({ ...long, offset: 1_000 })).toMatchObject({ kind: 'refused', reason: /topic is too long/ })
  })
})

describe('a schedule beyond the limits', () => {
  it('is refused, whatever the kind', () => {
    const headers = Object.fromEntries(Array.from({ length: 33 }, (_, index) => [`h${index}`, 'x']))
    const refused = (made: unknown): void => expect(made).toMatchObject({ kind: 'refused', jobId: 'vid1-online' })
    for (const [of, steering] of [
      [fromEtf1, etf1],
      [fromKarafka, karafka],
    ] as const) {
      refused(of(record(steering, { value: Buffer.alloc(600_000) })))
      refused(of(record({ ...steering, ...headers })))
      refused(of(record({ ...steering, long: 'x'.repeat(20_000) })))
    }
  })
})

describe('a schedule of etf1', () => {
  it('becomes one record at its second, with the headers that the original sends', () => {
    const made = fromEtf1(record({ ...etf1, 'customer-header': 'dummy' }))
    expect(made).toMatchObject({
      kind: 'definition',
      jobId: 'vid1-online',
      definition: {
        schedule: { at: 1_893_456_000_000 },
        target: { handler: null, topic: { name: 'online-videos', key: Buffer.from('vid1'), partition: null } },
        payload: Buffer.from('video 1'),
        contentType: null,
      },
    })
    const { headers } = made.kind === 'definition' ? made.definition : { headers: {} }
    expect(Object.entries(headers).map(([name, value]) => [name, String(value)])).toEqual([
      ['customer-header', 'dummy'],
      ['scheduler-timestamp', '1607918336'],
      ['scheduler-key', 'vid1-online'],
      ['scheduler-topic', 'schedules'],
    ])
    expect(fromEtf1(record({ ...etf1, 'customer-header': 'dummy' }))).toEqual(made)
  })
  it('whose time has passed is due at once, each time that it is sent', () => {
    for (const epoch of ['0', '1607918336']) {
      const made = fromEtf1(record({ ...etf1, 'scheduler-epoch': epoch }))
      expect(made).toMatchObject({ kind: 'definition', definition: { schedule: { at: null, delayMs: 0 } } })
      const ofKarafka = fromKarafka(record({ ...karafka, schedule_target_epoch: epoch }))
      expect(ofKarafka).toMatchObject({ kind: 'definition', definition: { schedule: { at: null, delayMs: 0 } } })
    }
  })
  it('is deleted by a null value', () => {
    expect(fromEtf1(record({}, { value: null }))).toEqual({ kind: 'deletion', jobId: 'vid1-online' })
    expect(fromEtf1(record({}, { value: null, key: null }))).toMatchObject({ kind: 'refused' })
  })
  it('is refused with the header that is wrong', () => {
    const reason = (headers: Record<string, string>, more: Partial<ForeignRecord> = {}): string => {
      const made = fromEtf1(record(headers, more))
      return made.kind === 'refused' ? made.reason : made.kind
    }
    for (const epoch of ['', 'soon', '-5', '1.5', '9'.repeat(50)])
      expect(reason({ ...etf1, 'scheduler-epoch': epoch })).toMatch(/scheduler-epoch must be whole seconds/)
    // A value in milliseconds is not read as a date in the year 57,000.
    expect(reason({ ...etf1, 'scheduler-epoch': '1893456000000' })).toMatch(/after the year 9999; .*not in milliseconds/)
    expect(reason({ ...etf1, 'scheduler-epoch': '253402300800' })).toMatch(/not in milliseconds/)
    expect(reason({ ...etf1, 'scheduler-epoch': '253402300799' })).toBe('definition')
    expect(reason({ 'scheduler-epoch': '5' })).toMatch(/scheduler-target-topic is missing/)
    expect(reason({ ...etf1, 'scheduler-target-topic': 'no topic' })).toMatch(/target\.topic\.name is "no topic"/)
    expect(reason(etf1, { value: Buffer.alloc(524_289) })).toMatch(/payload has 524289 bytes/)
  })
})

describe('a scheduled message of Karafka', () => {
  it('becomes one record at its second, with all its headers and its origin', () => {
    const made = fromKarafka(record({ ...karafka, schedule_target_partition: '5', mine: 'yes' }))
    expect(made).toMatchObject({
      kind: 'definition',
      definition: {
        schedule: { at: 1_893_456_000_000 },
        target: { topic: { name: 'orders', key: Buffer.from('o1'), partition: 5 } },
      },
    })
    const headers = made.kind === 'definition' ? made.definition.headers : {}
    expect(Object.keys(headers)).toEqual([
      ...Object.keys(karafka),
      'schedule_target_partition',
      'mine',
      'schedule_source_topic',
      'schedule_source_partition',
      'schedule_source_offset',
      'schedule_source_key',
    ])
  })
  it('may have no payload, and is deleted by cancel and by the tombstone of the original', () => {
    expect(fromKarafka(record(karafka, { value: null }))).toMatchObject({ kind: 'definition', definition: { payload: null } })
    for (const type of ['cancel', 'tombstone']) {
      const headers = { schedule_schema_version: '1.0.0', schedule_source_type: type }
      expect(fromKarafka(record(headers, { value: null }))).toEqual({ kind: 'deletion', jobId: 'vid1-online' })
    }
  })
  it('is refused if it is not understood, and is not sent elsewhere', () => {
    const reason = (headers: Record<string, string>, more: Partial<ForeignRecord> = {}): string => {
      const made = fromKarafka(record({ ...karafka, ...headers }, more))
      return made.kind === 'refused' ? made.reason : made.kind
    }
    expect(reason({ schedule_schema_version: '2.0.0' })).toMatch(/known is 1\.x/)
    expect(reason({ schedule_source_type: 'other' })).toMatch(/schedule_source_type/)
    expect(reason({ schedule_target_partition: 'one' })).toMatch(/schedule_target_partition/)
    expect(reason({ schedule_target_partition_key: 'k' })).toMatch(/not supported/)
    expect(reason({}, { key: null })).toMatch(/must have a key/)
  })
})

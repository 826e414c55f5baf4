import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { JobDefinition, JobDefinitionInput } from '../../../schemas/generated.ts'
import { completeCommand } from '../../../streams/definitions/defaults.ts'
import { validateCommand, validateDefinition, validateJobId } from '../../../streams/definitions/validate.ts'
import { firstFire } from '../../../streams/schedules/next-fire.ts'
import { anything, definitionOf, wildDefinition } from '../jobs/samples.ts'

const messages = (input: Partial<JobDefinitionInput>): string[] =>
  validateDefinition(definitionOf(input)).map(({ message }) => message)

describe('a job id', () => {
  it('is 1 to 255 bytes of UTF-8', () => {
    for (const id of ['a', 'report-7', 'ünïcode/ß 😀', 'x'.repeat(255), 'é'.repeat(127)]) {
      expect(validateJobId(id), id).toBeUndefined()
      expect(validateJobId(Buffer.from(id)), id).toBeUndefined()
    }
  })
  it.each([
    ['', 'is empty'],
    ['x'.repeat(256), 'has 256 bytes'],
    ['é'.repeat(128), 'has 256 bytes'],
    ['a\u0000b', 'control character'],
    ['a\nb', 'control character'],
    ['\u007f', 'control character'],
    ['\u0085', 'control character'],
    ['\u009f', 'control character'],
    ['.', 'is a path of its own'],
    ['..', 'is a path of its own'],
  ])('refuses %j', (id, reason) => {
    for (const given of [id, Buffer.from(id)]) {
      const problem = validateJobId(given)
      expect(problem?.field).toBe('id')
      expect(problem?.message).toContain(reason)
      expect(problem?.message).toContain('allowed: 1 to 255 bytes')
      expect(problem?.message).not.toContain('...')
    }
  })
  it('refuses text and bytes that are not UTF-8', () => {
    expect(validateJobId('\ud800')?.message).toContain('not valid UTF-8')
    expect(validateJobId(Buffer.from([0x61, 0xff]))?.message).toContain('not valid UTF-8')
    expect(validateJobId(Buffer.from([0xc0, 0x80]))?.message).toContain('not valid UTF-8')
  })
  it('gives the same verdict on text and on its bytes', () => {
    fc.assert(
      fc.property(fc.oneof(fc.string({ unit: 'binary', maxLength: 300 }), fc.string({ unit: 'grapheme' })), (id) => {
        expect(validateJobId(Buffer.from(id)) === undefined).toBe(validateJobId(id) === undefined)
      }),
      { numRuns: 2000 },
    )
    fc.assert(fc.property(fc.uint8Array({ maxLength: 300 }), (bytes) => void validateJobId(Buffer.from(bytes))))
  })
})

describe('a definition', () => {
  it('has no control characters in texts that lists show', () => {
    for (const text of ['a\u001b[2J', 'a\nb', 'a\u009b']) {
      const found = messages({
        tags: ['ok', text],
        onSuccess: [text],
        onFailure: [text],
        contentType: text,
        payload: Buffer.from('x'),
      })
      expect(found.map((message) => message.split(' ')[0])).toEqual(['tags[1]', 'onSuccess[0]', 'onFailure[0]', 'contentType'])
      for (const message of found) expect(message).toContain('has a control character')
    }
  })
  it('passes with nothing but a schedule and a handler', () => {
    expect(messages({})).toEqual([])
    for (const schedule of [
      { at: 0 },
      { delayMs: 0 },
      { everyMs: 100 },
      { cron: '@daily' },
      { cron: '0 9 * * MON-FRI', timezone: 'Europe/Paris' },
    ]) {
      expect(messages({ schedule })).toEqual([])
    }
  })
  it('reports what is wrong, where, and what is allowed', () => {
    expect(messages({ schedule: { everyMs: 5 } })).toEqual(['schedule.everyMs is 5 ms; allowed: 100 to 315360000000 ms.'])
    expect(messages({ target: { handler: '', pool: 'Default' } })).toEqual([
      'target.handler has 0 characters; allowed: 1 to 128 characters.',
      'target.pool is "Default"; allowed: text that matches ^[a-z0-9][a-z0-9_-]*$.',
    ])
    expect(messages({ payload: Buffer.alloc(524_289) })).toEqual(['payload has 524289 bytes; allowed: at most 524288 bytes.'])
    expect(messages({ tags: ['a', 'b'.repeat(65)] })).toEqual(['tags[1] has 65 characters; allowed: 0 to 64 characters.'])
  })
  it('has exactly one kind of schedule', () => {
    expect(messages({ schedule: {} })).toEqual([
      'schedule must have exactly one of at, delayMs, everyMs, cron, rrule; none of them is set.',
    ])
    expect(messages({ schedule: { at: 5, cron: '@daily' } })).toEqual([
      'schedule must have exactly one of at, delayMs, everyMs, cron, rrule; at and cron are set.',
    ])
  })
  it('has exactly one backoff', () => {
    expect(messages({ retry: { backoff: {} } })).toEqual([
      'retry.backoff must have exactly one of list, fixed, linear, exponential; none of them is set.',
    ])
    expect(messages({ retry: { backoff: { list: [1], fixed: { delayMs: 1 } } } })).toEqual([
      'retry.backoff must have exactly one of list, fixed, linear, exponential; list and fixed are set.',
    ])
    expect(messages({ retry: { backoff: { exponential: { baseMs: 1 } } } })).toEqual([])
  })
  it('has an anchor and from only with everyMs, a time zone only with cron', () => {
    expect(messages({ schedule: { everyMs: 100, anchor: 5, from: 'END' } })).toEqual([])
    expect(messages({ schedule: { at: 5, anchor: 5 } })[0]).toMatch(/^schedule\.anchor is 5, .* only with schedule\.everyMs/)
    expect(messages({ schedule: { cron: '@daily', from: 'END' } })[0]).toMatch(/^schedule\.from is "END"/)
    expect(messages({ schedule: { everyMs: 100, timezone: 'Europe/Paris' } })[0]).toMatch(
      /^schedule\.timezone is "Europe\/Paris", .* only with schedule\.cron/,
    )
  })
  it('has a time zone that exists and a cron expression that parses and has an occurrence', () => {
    expect(messages({ schedule: { cron: '@daily', timezone: 'Mars/Olympus' } })[0]).toMatch(
      /schedule\.timezone is "Mars\/Olympus", which is not a known time zone/,
    )
    expect(messages({ schedule: { cron: '61 * * * *' } })[0]).toBe(
      'schedule.cron is "61 * * * *": Invalid value for minute: 61; allowed: a cron expression of 5 fields, or of 6 with seconds first.',
    )
    expect(messages({ schedule: { cron: '0 0 31 2 *' } })[0]).toMatch(/never comes true/)
  })
  it('has a window that is not empty', () => {
    const [startAt, endAt] = [Date.UTC(2030, 0, 2), Date.UTC(2030, 0, 1)]
    expect(messages({ schedule: { cron: '@daily' }, startAt, endAt })).toEqual([
      'endAt (2030-01-01T00:00:00.000Z) is before startAt (2030-01-02T00:00:00.000Z); allowed: at or after startAt.',
    ])
    expect(messages({ schedule: { at: endAt }, startAt })[0]).toMatch(/^schedule\.at .* is before startAt/)
    expect(messages({ schedule: { at: startAt }, endAt })[0]).toMatch(/^schedule\.at .* is after endAt/)
    expect(messages({ schedule: { at: startAt }, startAt, endAt: startAt })).toEqual([])
  })
  it('is validated without a throw, whatever it contains, and its occurrences can be computed if it is valid', () => {
    let passed = 0
    fc.assert(
      fc.property(wildDefinition(), (definition) => {
        const problems = validateDefinition(definition as JobDefinition)
        for (const { field, message } of problems) {
          expect(field.length).toBeGreaterThan(0)
          expect(message.length).toBeLessThan(600)
        }
        if (problems.length > 0) return
        passed++
        expect(() => firstFire(definition as JobDefinition, 1_750_000_000_000)).not.toThrow()
      }),
      { numRuns: 20_000 },
    )
    expect(passed).toBeGreaterThan(1000)
    fc.assert(
      fc.property(anything(), (value) => void validateDefinition(value as JobDefinition)),
      { numRuns: 5000 },
    )
  })
})

describe('a command', () => {
  it('obeys the limits of its schema', () => {
    const command = completeCommand({ type: 'TRIGGER', commandId: 'c', at: 0 })
    expect(validateCommand(command)).toEqual([])
    expect(validateCommand({ ...command, type: 'EXPLODE' as 'TRIGGER' })[0]?.message).toMatch(
      /^type is "EXPLODE"; allowed: TRIGGER/,
    )
    expect(validateCommand({ ...command, commandId: '' })[0]?.field).toBe('commandId')
    expect(validateCommand({ ...command, runNo: -1 })[0]?.field).toBe('runNo')
  })
  it.each(['SCHEDULE', 'REDRIVE', 'BACKFILL'] as const)(
    'may not claim that its run was made by %s: only an owner knows that',
    (trigger) => {
      const command = completeCommand({ type: 'TRIGGER', commandId: 'c', at: 0, trigger })
      expect(validateCommand(command).map(({ message }) => message)).toEqual([
        `trigger is "${trigger}"; allowed: MANUAL, FOLLOW_UP.`,
      ])
    },
  )
  it.each(['MANUAL', 'FOLLOW_UP'] as const)('may claim that its run is %s', (trigger) => {
    expect(validateCommand(completeCommand({ type: 'TRIGGER', commandId: 'c', at: 0, trigger }))).toEqual([])
  })
})

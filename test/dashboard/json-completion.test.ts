import { describe, expect, it } from 'vitest'
import type { FieldSchemas } from '../../src/clients/dashboard/model/definition-schema.ts'
import { type Completion, completionsAt, placeAt } from '../../src/clients/dashboard/model/json-completion.ts'
import { openApiDocument } from '../../src/server/api/openapi/document.ts'

const schemas = openApiDocument([]).components.schemas as FieldSchemas
const known = { 'schedule.timezone': ['Europe/Paris', 'Asia/Tokyo'] }

/** The caret is at |. */
function optionsAt(marked: string): { text: string; options: Completion[] } {
  const offset = marked.indexOf('|')
  const text = marked.replace('|', '')
  const place = placeAt(text, offset)
  return { text, options: place === undefined ? [] : completionsAt(text, place, schemas, known) }
}

const labelsAt = (marked: string): string[] => optionsAt(marked).options.map(({ label }) => label)

/** The text after the option was chosen, with the caret at |. */
function chosen(marked: string, label: string): string {
  const { text, options } = optionsAt(marked)
  const option = options.find((each) => each.label === label)
  if (option === undefined) return `no ${label}`
  const next = text.slice(0, option.from) + option.insert + text.slice(option.to)
  const caret = option.from + option.insert.length - option.back
  return `${next.slice(0, caret)}|${next.slice(caret)}`
}

describe('completion', () => {
  it.each([
    ['{ "schedule": { "cr|', ['cron']],
    ['{ "schedule": { "cron": "x", "dst|" } }', ['dstGap', 'dstOverlap']],
    ['{ "retry": { "backoff": { "exp|" } }, "cron": 1 }', ['exponential']],
    ['{ "retry": { "backoff": { "exponential": { "f| } } } }', ['factor']],
    ['{ "catchUp": "| }', ['SKIP', 'LATEST', 'ALL']],
    ['{ "catchUp": "LA|TEST" }', ['LATEST']],
    ['{ "paused": t| }', ['true']],
    ['{ "schedule": { "timezone": "par|" } }', ['Europe/Paris']],
    ['{ "payload": { "cat|" } }', []],
    ['{ "tags": ["cat|"] }', []],
    ['{ "payload": "{ \\"|" }', []],
    ['[ "|', []],
    ['"|', []],
    ['', []],
  ])('%s: %j', (marked, labels) => {
    expect(labelsAt(marked)).toEqual(labels)
  })

  it('offers the names that the object does not have yet', () => {
    const labels = labelsAt('{ "tags": [], "|", "paused": true, "retry": { "jitter": 0 } }')
    expect(labels).toContain('jitterMs')
    for (const present of ['tags', 'paused', 'retry', 'id']) expect(labels).not.toContain(present)
  })

  it('writes the member with a value to go on from, and the commas that are missing', () => {
    expect(chosen('{ "sched| }', 'schedule')).toBe('{ "schedule": {|} }')
    expect(chosen('{\n  "cat|"\n  "paused": true }', 'catchUp')).toBe('{\n  "catchUp": "SKIP"|,\n  "paused": true }')
    expect(chosen('{ "paused": true\n  "ta|" }', 'tags')).toBe('{ "paused": true,\n  "tags": [|] }')
    expect(chosen('{ "paused": true, "ta|" }', 'tags')).toBe('{ "paused": true, "tags": [|] }')
    expect(chosen('{ "pau|sed": true }', 'paused')).toBe('{ "paused"|: true }')
    expect(chosen('{ "paused": | }', 'false')).toBe('{ "paused": false| }')
    expect(chosen('{ "overlap": "S| , "tags": [] }', 'SKIP')).toBe('{ "overlap": "SKIP"| , "tags": [] }')
    expect(chosen('{ "maxC|', 'maxConcurrentRuns')).toBe('{ "maxConcurrentRuns": 16|')
  })
})

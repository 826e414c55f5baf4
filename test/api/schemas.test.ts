import { Ajv } from 'ajv'
import { describe, expect, it } from 'vitest'
import * as commands from '../../src/server/api/schemas/commands.ts'
import { problemSchema } from '../../src/server/api/schemas/common.ts'
import * as jobs from '../../src/server/api/schemas/jobs.ts'
import * as partitions from '../../src/server/api/schemas/partitions.ts'
import * as runs from '../../src/server/api/schemas/runs.ts'
import * as system from '../../src/server/api/schemas/system.ts'
import { activeRun, atNoon, createSystem, finishedRun, type MemorySystem } from './system-in-memory.ts'

const ajv = new Ajv({ allowUnionTypes: true })

function expectToFit(schema: object, value: unknown): void {
  const fits = ajv.compile(schema)
  expect(fits(value) ? [] : fits.errors).toEqual([])
}

async function answerOf({ api }: MemorySystem, method: 'GET' | 'PUT' | 'POST', url: string, payload?: object) {
  return (await api.instance.inject({ method, url, ...(payload && { payload }) })).json()
}

describe('answers match their schemas', () => {
  it('for jobs and runs', async () => {
    await using memory = createSystem()
    expectToFit(jobs.putJobSchema.response[200], await answerOf(memory, 'PUT', '/v1/jobs/new?wait=applied', atNoon))
    expectToFit(jobs.postJobSchema.response[201], await answerOf(memory, 'POST', '/v1/jobs', atNoon))
    memory.add('a', { active: [activeRun(2)], lastRun: finishedRun(1, [1]) })
    memory.owner.finished.set('a', [finishedRun(1, [1])])
    memory.add('invalid', { definition: undefined, status: 'INVALID', reason: 'x' })
    expectToFit(jobs.getJobSchema.response[200], await answerOf(memory, 'GET', '/v1/jobs/a'))
    expectToFit(jobs.listJobsSchema.response[200], await answerOf(memory, 'GET', '/v1/jobs?limit=2'))
    expectToFit(runs.listRunsSchema.response[200], await answerOf(memory, 'GET', '/v1/jobs/a/runs'))
    expectToFit(runs.getRunSchema.response[200], await answerOf(memory, 'GET', '/v1/runs/a/1'))
    expectToFit(commands.triggerSchema.response[202], await answerOf(memory, 'POST', '/v1/jobs/a/trigger'))
    expectToFit(commands.pauseSchema.response[200], await answerOf(memory, 'POST', '/v1/jobs/a/pause'))
    memory.owner.applies = false
    expectToFit(commands.pauseSchema.response[202], await answerOf(memory, 'POST', '/v1/jobs/a/resume'))
    expectToFit(jobs.putJobSchema.response[202], await answerOf(memory, 'PUT', '/v1/jobs/late?wait=applied', atNoon))
  })

  it('for the lines of a batch', async () => {
    await using memory = createSystem()
    const payload = `${JSON.stringify({ id: 'a', ...atNoon })}\n{"id":"b"}\n{`
    const headers = { 'content-type': 'application/x-ndjson' }
    const { body } = await memory.api.instance.inject({ method: 'POST', url: '/v1/jobs/batch', headers, payload })
    const [text, whole] = [{ type: 'string' }, { type: 'integer' }]
    const written = { line: whole, ok: { const: true }, id: text, etag: text, partition: whole, offset: whole }
    const refused = { line: whole, ok: { const: false }, code: text, detail: text, retriable: { type: 'boolean' } }
    const problems = { type: 'array', minItems: 1, items: { type: 'object', required: ['field', 'limit', 'message'] } }
    const exactly = (properties: object, more: object = {}) => ({
      ...{ type: 'object', additionalProperties: false, required: Object.keys(properties) },
      properties: { ...properties, ...more },
    })
    const schemas = [exactly(written), exactly(refused, { id: text, problems }), exactly(refused, { problems })]
    const lines = body.trim().split('\n')
    expect(lines).toHaveLength(3)
    for (const [index, schema] of schemas.entries()) expectToFit(schema, JSON.parse(lines[index] ?? ''))
  })

  it('for schedules, partitions, probes and problems', async () => {
    await using memory = createSystem()
    const preview = { schedule: { cron: '@daily' }, count: 2 }
    expectToFit(system.previewSchema.response[200], await answerOf(memory, 'POST', '/v1/schedules/preview', preview))
    expectToFit(partitions.partitionsSchema.response[200], await answerOf(memory, 'GET', '/v1/partitions'))
    expectToFit(system.readinessSchema.response[200], await answerOf(memory, 'GET', '/readyz'))
    expectToFit(problemSchema, await answerOf(memory, 'GET', '/v1/jobs/none'))
    expectToFit(problemSchema, await answerOf(memory, 'PUT', '/v1/jobs/a', { nothing: 1 }))
  })
})

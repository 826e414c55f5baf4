/** The answers while the owner of a partition decides nothing, because its clock is not trusted. */
import { expect, it } from 'vitest'
import { partitionOf } from '../../streams/topics/topics.ts'
import { duelogHere } from '../cli/built-program.ts'
import { atNoon, createSystem, type MemorySystem } from './system-in-memory.ts'

const problem = 'The wall clock of this machine is 5001 ms ahead of the brokers. Check the time services of this machine.'
const said = `The owner of its partition, i@h:1:b, decides nothing for now. ${problem}`
const detail = expect.stringContaining(said)

function stopped(): MemorySystem {
  const system = createSystem()
  system.add('a')
  system.owner.applies = false
  system.owner.problem = problem
  return system
}

it.each([
  { method: 'PUT', url: '/v1/jobs/b?wait=applied', payload: atNoon },
  { method: 'POST', url: '/v1/jobs?wait=applied', payload: atNoon },
  { method: 'DELETE', url: '/v1/jobs/a?wait=applied' },
  { method: 'POST', url: '/v1/jobs/a/trigger' },
  { method: 'POST', url: '/v1/jobs/a/pause' },
] as const)('a wait without result names the clock of the owner: %j', async (call) => {
  await using system = stopped()
  const answer = await system.api.instance.inject(call)
  expect(answer.statusCode).toBe(202)
  expect(answer.json()).toMatchObject({ applied: false, code: 'wait-timeout', detail })
  expect(answer.json().detail).toMatch(/ had not applied it within 5 s\. .* After that it will be applied\.$/)
})

it('so does a write that needs an applied state, and the end of a batch', async () => {
  await using system = stopped()
  const put = (headers: Record<string, string> = {}) =>
    system.api.instance.inject({ method: 'PUT', url: '/v1/jobs/b', payload: atNoon, headers })
  await put()
  expect((await put({ 'if-match': '*' })).json()).toMatchObject({ code: 'not-ready', detail })
  const { body } = await system.api.instance.inject({
    ...{ method: 'POST', url: '/v1/jobs/batch?wait=applied', headers: { 'content-type': 'application/x-ndjson' } },
    payload: `${JSON.stringify({ id: 'c', ...atNoon })}\n`,
  })
  expect(JSON.parse(body.trimEnd().split('\n').at(-1) ?? '')).toEqual({ applied: false, code: 'wait-timeout', detail })
})

it('an owner that cannot be asked for the reason does not delay the answer', async () => {
  await using system = stopped()
  for (let partition = 0; partition < 4; partition++) system.owner.notReady.add(partition)
  const answer = await system.api.instance.inject({ method: 'PUT', url: '/v1/jobs/b?wait=applied', payload: atNoon })
  expect(answer.statusCode).toBe(202)
  system.owner.notReady.clear()
  system.owner.problem = undefined
  const late = await system.api.instance.inject({ method: 'PUT', url: '/v1/jobs/c?wait=applied', payload: atNoon })
  expect(late.json().detail).toMatch(/ had not applied it within 5 s\. It will be applied later\.$/)
})

it('the CLI shows the reason, and reports no job as deleted, paused or run', async () => {
  await using system = stopped()
  const env = { DUELOG_URL: await system.api.listen('127.0.0.1', 0) }
  expect(partitionOf('a', 4)).toBeLessThan(4)
  for (const [words, done] of [
    [['jobs', 'rm', 'a'], 'is deleted'],
    [['jobs', 'pause', 'a'], 'is paused'],
    [['jobs', 'trigger', 'a'], 'runs as'],
  ] as const) {
    const { code, out } = await duelogHere([...words], { env })
    expect([code, out]).toEqual([0, expect.stringMatching(/^a is accepted but not applied yet\. /)])
    expect(out).toContain(said)
    expect(out).not.toContain(done)
  }
  const input = JSON.stringify({ id: 'c', ...atNoon })
  expect((await duelogHere(['jobs', 'apply', '-'], { env, input })).err).toContain(said)
})

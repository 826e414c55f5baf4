/**
 * Cycles of follow-ups. The answer names the jobs of the cycle to a caller that defines it, plans it, or asks why a chain ended.
 */
import { describe, expect, it } from 'vitest'
import { ChainCycles } from '../../../src/server/api/jobs/cycles.ts'
import { completeDefinition } from '../../../streams/definitions/definition-json.ts'
import { whyOf } from '../../../streams/jobs/reasons.ts'
import { duelogHere } from '../../cli/built-program.ts'
import { atNoon, createSystem, type MemorySystem } from '../system-in-memory.ts'

const definition = (onSuccess: string[], onFailure: string[] = []) =>
  completeDefinition({ schedule: { at: Date.UTC(2031, 0, 1, 12) }, target: { handler: 'noop' }, onSuccess, onFailure })
const follows = (onSuccess: string[], onFailure: string[] = []) => ({ onSuccess, onFailure })

/** b and c exist: b -> c -> a. */
function systemWithPath(): MemorySystem {
  const system = createSystem()
  system.add('b', { definition: definition(['c']) })
  system.add('c', { definition: definition([], ['a']) })
  return system
}
const put = (system: MemorySystem, onSuccess: string[]) =>
  system.api.instance.inject({ method: 'PUT', url: '/v1/jobs/a', payload: { ...atNoon, onSuccess } })
const cycle = '"a" -> "b" -> "c" -> "a"'

describe('a definition that closes a cycle', () => {
  it('gets a warning in the answer, and is written', async () => {
    await using system = systemWithPath()
    const answer = await put(system, ['b'])
    expect([answer.statusCode, answer.json().warnings]).toEqual([200, [expect.stringContaining(cycle)]])
    expect(answer.json().warnings[0]).toContain('ends after 32 generations')
    system.add('elsewhere')
    expect((await put(system, ['elsewhere'])).json()).not.toHaveProperty('warnings')
    expect((await put(system, [])).json()).not.toHaveProperty('warnings')
  })

  it('is accepted although an owner does not answer', async () => {
    const system = systemWithPath()
    const owners = { ...system.owner, stored: () => Promise.reject(new Error('away')) }
    system.owner.stored = owners.stored
    const answer = await put(system, ['b'])
    expect([answer.statusCode, answer.json().warnings]).toEqual([200, undefined])
    await system.api.stop()
  })

  it('gets a warning in a plan: for a cycle in the plan alone, and with existing jobs', async () => {
    await using system = systemWithPath()
    const plan = async (...jobs: object[]) => {
      const answer = await system.api.instance.inject({ method: 'POST', url: '/v1/jobs/plan', payload: { jobs } })
      return (answer.json().jobs as { warnings?: string[] }[]).map(({ warnings }) => warnings?.length ?? 0)
    }
    expect(await plan({ id: 'a', ...atNoon, onSuccess: ['b'] })).toEqual([1])
    expect(await plan({ id: 'x', ...atNoon, onSuccess: ['y'] }, { id: 'y', ...atNoon, onFailure: ['x'] })).toEqual([1, 1])
    // A definition that the plan replaces does not count.
    expect(await plan({ id: 'a', ...atNoon, onSuccess: ['b'] }, { id: 'c', ...atNoon })).toEqual([0, 0])
    const env = { DUELOG_URL: await system.api.listen('127.0.0.1', 0) }
    const input = JSON.stringify({ id: 'a', ...atNoon, onSuccess: ['b'] })
    const { out } = await duelogHere(['jobs', 'plan', '-'], { env, input })
    expect(out).toContain(`\n  warning These jobs trigger each other in a cycle: ${cycle}.`)
  })
})

describe('a follower that does not exist', () => {
  const text = 'It triggers "alrm", "gone", and there is no such job.'
  const with2 = { ...atNoon, onSuccess: ['b', 'alrm'], onFailure: ['gone'] }

  it('is named in the answer to a definition, in a plan, and by why; one that is invalid is there', async () => {
    await using system = systemWithPath()
    system.add('b', { definition: undefined })
    const ask = async (method: 'GET' | 'POST' | 'PUT', url: string, payload?: object) =>
      (await system.api.instance.inject({ method, url, ...(payload && { payload }) })).json()
    for (const answer of [await ask('PUT', '/v1/jobs/a', with2), await ask('POST', '/v1/jobs', with2)])
      expect(answer.warnings).toEqual([expect.stringContaining(text)])
    const plan = await ask('POST', '/v1/jobs/plan', {
      jobs: [
        { id: 'a', ...with2 },
        { id: 'alrm', ...atNoon },
      ],
    })
    expect(plan.jobs[0].warnings).toEqual([expect.stringContaining('It triggers "gone", and there is no such job.')])
    system.add('a', { definition: definition(['b', 'alrm'], ['gone']) })
    system.owner.reasons.set('a', [{ code: 'next', text: 'The next occurrence is due.', at: 1 }])
    expect((await ask('GET', '/v1/jobs/a/why')).why).toMatchObject([
      { code: 'no-follower', text: expect.stringContaining(text), at: null },
      { code: 'next' },
    ])
  })

  it('is not claimed of a job whose owner does not answer', async () => {
    await using system = systemWithPath()
    system.add('a', { definition: definition(['alrm']) })
    system.owner.reasons.set('a', [{ code: 'next', text: 'The next occurrence is due.', at: 1 }])
    system.owner.stored = () => Promise.reject(new Error('away'))
    const why = (await system.api.instance.inject('/v1/jobs/a/why')).json().why
    expect(why).toMatchObject([{ code: 'next' }])
  })
})

describe('why a chain ended', () => {
  const reasons = whyOf({ id: 'a', state: undefined } as never, 0)

  it('names the cycle by the definitions in force, and says so if there is none', async () => {
    await using system = systemWithPath()
    system.add('a', { definition: definition(['b']) })
    const text = 'A follow-up was not triggered: its chain of follow-ups had reached the greatest length.'
    system.owner.reasons.set('a', [{ code: 'chain-depth', text, at: 1 }, ...reasons])
    const why = async () => (await system.api.instance.inject('/v1/jobs/a/why')).json().why as { text: string }[]
    expect((await why())[0]?.text).toBe(`${text} In the definitions in force this is the cycle: ${cycle}.`)
    system.add('c', { definition: definition([]) })
    expect((await why())[0]?.text).toContain('no job that this one triggers leads back to it.')
  })
})

describe('the search', () => {
  it('finds the shortest cycle, and ignores others', async () => {
    const jobs: Record<string, ReturnType<typeof follows>> = {
      a: follows(['b', 'x']),
      b: follows(['c']),
      c: follows(['a', 'b']),
      x: follows([], ['a']),
    }
    const cycles = new ChainCycles(async (id) => jobs[id], 64)
    expect(await cycles.through('a')).toEqual({ path: ['a', 'x', 'a'], complete: true })
    expect((await cycles.through('b')).path).toEqual(['b', 'c', 'b'])
    expect(await cycles.through('nobody')).toEqual({ path: undefined, complete: true })
  })

  it('reads at most a fixed number of jobs, however many follow-ups there are', async () => {
    let asked = 0
    const wide = new ChainCycles(async (id) => {
      asked++
      return follows(Array.from({ length: 16 }, (_, index) => `${id}.${index}`))
    }, 64)
    expect(await wide.through('a')).toEqual({ path: undefined, complete: false })
    expect(asked).toBe(64)
    // Nothing follows after the maximum length of a chain.
    let far = 0
    const long = new ChainCycles(async (id) => {
      far++
      return follows([String(Number(id) + 1)])
    }, 1_000)
    expect((await long.through('0')).path).toBeUndefined()
    expect(far).toBe(32)
  })
})

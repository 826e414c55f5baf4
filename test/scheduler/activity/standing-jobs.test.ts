import { describe, expect, it } from 'vitest'
import { StandingJobs } from '../../../src/scheduler/activity/standing-jobs.ts'
import { countStanding } from '../../../src/scheduler/queries/standing-walk.ts'
import { completeDefinition } from '../../../streams/definitions/definition-json.ts'
import { pristineState } from '../../../streams/state/draft.ts'
import type { Job } from '../../../streams/state/job.ts'
import { indexKeysOf } from '../../../streams/state/job-index.ts'
import { definitionKey, definitionValue, stateKey } from '../../../streams/state/keys.ts'
import { codecs } from '../../model/world.ts'
import { memoryStore } from '../../tools/memory-store.ts'
import { mulberry32 } from '../../tools/mulberry32.ts'

type Status = 'ACTIVE' | 'PAUSED' | 'INVALID'
interface Plan {
  status: Status
  dead: number
}

const atOnce = { rest: () => new Promise<void>(setImmediate) }

function jobOf(id: string, plan: Plan | undefined): Job {
  if (plan === undefined) return { id }
  const spec = completeDefinition({ schedule: { everyMs: 60_000 }, target: { handler: 'noop' } })
  const definition = { offset: 0, appendedAt: 0, bytes: codecs.definition.encode(spec), spec }
  const deadRuns = Array.from({ length: plan.dead }, (_, index) => index + 1)
  return { id, definition, state: { ...pristineState({ id, definition }), status: plan.status, deadRuns } }
}

type Store = ReturnType<typeof memoryStore>
async function put(store: Store, before: Job, after: Job): Promise<void> {
  const ops = [
    { key: definitionKey(after.id), value: after.definition === undefined ? null : definitionValue(after.definition) },
    { key: stateKey(after.id), value: after.state === undefined ? null : codecs.state.encode({ state: after.state }) },
  ]
  const [was, is] = [indexKeysOf(before), indexKeysOf(after)]
  for (const key of was) ops.push({ key, value: null })
  for (const key of is) ops.push({ key, value: Buffer.alloc(0) })
  await store.apply(ops)
}

/** Counted from the plans alone. */
function truth(plans: ReadonlyMap<string, Plan | undefined>) {
  const all = [...plans.values()].filter((plan) => plan !== undefined)
  return {
    deadRuns: all.reduce((sum, { dead }) => sum + dead, 0),
    deadJobs: all.filter(({ dead }) => dead > 0).length,
    invalid: all.filter(({ status }) => status === 'INVALID').length,
    paused: all.filter(({ status }) => status === 'PAUSED').length,
  }
}

describe('the jobs that need attention', () => {
  it('are counted exactly while decisions go on, in any interleaving', async () => {
    for (let seed = 1; seed <= 40; seed++) {
      const random = mulberry32(seed)
      const below = (n: number): number => Math.floor(random() * n)
      const anyPlan = (): Plan | undefined =>
        below(5) === 0 ? undefined : { status: (['ACTIVE', 'PAUSED', 'INVALID'] as const)[below(3)] ?? 'ACTIVE', dead: below(3) }
      const store = memoryStore()
      const plans = new Map<string, Plan | undefined>()
      const standing = new StandingJobs()
      const change = async (): Promise<void> => {
        const id = `job-${below(12)}`
        const [before, plan] = [jobOf(id, plans.get(id)), anyPlan()]
        plans.set(id, plan)
        // As in a commit cycle: decided at once, stored some time later.
        standing.changed(before, jobOf(id, plan))
        if (below(2) === 0) await atOnce.rest()
        await put(store, before, jobOf(id, plan))
      }
      for (let i = 0; i < 20; i++) await change()
      expect(standing.counts).toBeNull()
      const counting = countStanding({ standing, begin: () => standing.begin(), store, codecs, spare: atOnce })
      for (let i = 0; i < below(20); i++) await change()
      await counting
      expect(standing.counts, `seed ${seed}`).toEqual(truth(plans))
      for (let i = 0; i < 20; i++) await change()
      expect(standing.counts, `seed ${seed}`).toEqual(truth(plans))
      // A second call counts nothing twice.
      await countStanding({ standing, begin: () => standing.begin(), store, codecs, spare: atOnce })
      expect(standing.counts, `seed ${seed}`).toEqual(truth(plans))
    }
  })

  it('are counted again from the beginning after a fault of the store', async () => {
    const store = memoryStore()
    await put(store, { id: 'a' }, jobOf('a', { status: 'INVALID', dead: 2 }))
    const standing = new StandingJobs()
    let scans = 0
    const faulty: Store = {
      ...store,
      scan: (options) => (++scans === 2 ? Promise.reject(new Error('disk')) : store.scan(options)),
    }
    await expect(
      countStanding({ standing, begin: () => standing.begin(), store: faulty, codecs, spare: atOnce }),
    ).rejects.toThrow('disk')
    expect(standing.counts).toBeNull()
    await countStanding({ standing, begin: () => standing.begin(), store, codecs, spare: atOnce })
    expect(standing.counts).toEqual({ deadRuns: 2, deadJobs: 1, invalid: 1, paused: 0 })
  })

  it('do not include a job whose index key is outdated, and include one that was never decided about', async () => {
    const store = memoryStore()
    await put(store, { id: 'gone' }, jobOf('gone', { status: 'PAUSED', dead: 1 }))
    await store.apply([
      { key: definitionKey('gone'), value: null },
      { key: stateKey('gone'), value: null },
    ])
    const spec = completeDefinition({ schedule: { everyMs: 60_000 }, target: { handler: 'noop' }, paused: true })
    await put(
      store,
      { id: 'new' },
      { id: 'new', definition: { offset: 0, appendedAt: 0, bytes: codecs.definition.encode(spec), spec } },
    )
    const standing = new StandingJobs()
    await countStanding({ standing, begin: () => standing.begin(), store, codecs, spare: atOnce })
    expect(standing.counts).toEqual({ deadRuns: 0, deadJobs: 0, invalid: 0, paused: 1 })
  })
})

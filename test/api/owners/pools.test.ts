/** What the workers of a pool announce, and the sentences about runs that they cannot do. */
import { describe, expect, it } from 'vitest'
import type { ActiveRunView } from '../../../src/ground/ports/owner-queries.ts'
import { handlersOf } from '../../../src/ground/records/worker-data.ts'
import { serviceReasons, serviceReasonsOf } from '../../../src/server/api/owners/pools.ts'
import { completeDefinition } from '../../../streams/definitions/index.ts'
import { topicNames } from '../../../streams/topics/index.ts'
import { ManualClock } from '../../tools/manual-clock.ts'
import { activeRun, view } from '../system-in-memory.ts'

const member = (instance: string, handlers?: unknown) => ({
  ...{ memberId: instance, instance, assigned: [] },
  userData: handlers === undefined ? null : { handlers },
})
const need = { pool: 'default', handler: 'send-mail' }
const texts = (members: ReturnType<typeof member>[]) => serviceReasons([{ runNo: 7 }], need, members).map(({ text }) => text)

describe('handlersOf', () => {
  it.each([
    [null],
    [{}],
    [{ handlers: null }],
    [{ handlers: 'noop' }],
    [{ handlers: [1] }],
    [{ handlers: Array(1_001).fill('a') }],
  ])('is unknown for %j', (userData) => expect(handlersOf(userData)).toBeNull())
  it('are the announced names', () => expect(handlersOf({ handlers: ['a', 'b'] })).toEqual(['a', 'b']))
})

describe('A run that waits', () => {
  it('is told that no worker serves its pool', () => {
    expect(texts([])).toEqual(['Run 7 waits: no worker serves the pool default.'])
  })

  it('is told that no worker has its handler', () => {
    expect(texts([member('a', ['noop']), member('b', [])])).toEqual([
      'Run 7 waits: no worker of pool default has the handler send-mail. It loses no attempt.',
    ])
  })

  it('is told nothing if a worker has it, and one that announces nothing counts as such', () => {
    expect(texts([member('a', ['send-mail']), member('b', ['noop'])])).toEqual([])
    expect(texts([member('b', ['noop']), member('c')])).toEqual([])
  })

  it('is one of three that are named', () => {
    expect(
      serviceReasons(
        [1, 2, 3, 4].map((runNo) => ({ runNo })),
        need,
        [],
      ),
    ).toHaveLength(3)
  })
})

describe('The runs of a job', () => {
  const spec = completeDefinition({ schedule: { at: 0 }, target: { handler: 'send-mail', pool: 'mails' } })
  const jobWith = (change: Partial<ActiveRunView>, definition = spec) => ({
    ...view('job', definition, 0, 0),
    offset: 5,
    active: [{ ...activeRun(1), specOffset: 5, status: 'DISPATCHED' as const, ...change }],
  })
  const clock = new ManualClock()
  const names = topicNames('x.')
  const asked: string[] = []
  const nobody = {
    async groupMembers(groupId: string) {
      asked.push(groupId)
      return []
    },
  }
  const codes = async (job: ReturnType<typeof jobWith>) =>
    (await serviceReasonsOf(job, { admin: nobody, names, clock })).map(({ code }) => code)

  it('are compared with the group of their pool', async () => {
    expect(await codes(jobWith({}))).toEqual(['no-worker'])
    expect(asked).toEqual([names.group('exec.mails')])
  })

  it('count while they wait for their handler, and not during a backoff, another wait or a run', async () => {
    expect(await codes(jobWith({ status: 'WAITING', waitsFor: 'HANDLER' }))).toEqual(['no-worker'])
    expect(await codes(jobWith({ status: 'WAITING', waitsFor: 'SLOT' }))).toEqual([])
    expect(await codes(jobWith({ status: 'RETRY_WAIT' }))).toEqual([])
    expect(await codes(jobWith({ status: 'RUNNING' }))).toEqual([])
  })

  it('do not count if they are of an earlier definition, or go to a topic', async () => {
    expect(await codes(jobWith({ specOffset: 4 }))).toEqual([])
    const toTopic = completeDefinition({ schedule: { at: 0 }, target: { topic: { name: 't' } } })
    expect(await codes(jobWith({}, toTopic))).toEqual([])
  })

  it('have no sentence if the brokers refuse, or do not answer in time', async () => {
    const job = jobWith({})
    const refuses = { groupMembers: () => Promise.reject(new Error('no coordinator')) }
    expect(await serviceReasonsOf(job, { admin: refuses, names, clock })).toEqual([])
    const hangs = { groupMembers: () => new Promise<never>(() => {}) }
    const answer = serviceReasonsOf(job, { admin: hangs, names, clock })
    await clock.advance(2_000)
    expect(await answer).toEqual([])
  })
})

import { describe, expect, it } from 'vitest'
import { DuelogError } from '../../src/ground/errors/errors.ts'
import { createOwnerDirectory, type Owner, type RemoteOwner } from '../../src/server/peers/owner-directory.ts'
import { peerToken } from '../../src/server/peers/peer-note.ts'
import { remoteQueries } from '../../src/server/peers/remote-queries.ts'
import { partitionOf } from '../../streams/topics/topics.ts'
import { activeRun, createSystem, finishedRun, MemoryOwner } from '../api/system-in-memory.ts'

const topic = 'test.jobs'
const member = (url: unknown, partitions: number[]) => ({
  memberId: String(url),
  instance: `name@${url}`,
  userData: url === undefined ? null : { url },
  assigned: partitions.flatMap((partition) => [
    { topic, partition },
    { topic: 'test.job-commands', partition },
  ]),
})

function createDirectory(change: { local?: MemoryOwner; remote?: (url: string) => RemoteOwner } = {}) {
  const state = {
    members: [member('http://one', [0, 1]), member('http://two', [2, 3])],
    nowMs: 1_000_000,
    reads: 0,
    down: new Set<string>(),
  }
  const remote = (url: string): RemoteOwner => {
    const owner = new MemoryOwner(4)
    const job: Owner['job'] = async () => {
      if (state.down.has(url)) throw new DuelogError('not-ready', `${url} is down`)
      return { id: url } as never
    }
    return { ...({} as RemoteOwner), job, partitions: async () => owner.partitions() }
  }
  const directory = createOwnerDirectory({
    admin: {
      groupMembers: async () => {
        state.reads++
        return state.members
      },
    },
    ...{ groupId: 'test.scheduler', topic, partitions: 4, remote },
    clock: { nowMs: () => state.nowMs, steadyMs: () => state.nowMs, at: () => () => {} },
    ...change,
  })
  const who = async (partition: number) => (await directory.ask(partition, (owner) => owner.job(partition, 'a')))?.id
  return { directory, state, who }
}

describe('the directory of owners', () => {
  it('asks the member that has the partition, and reads the group once', async () => {
    const { who, state } = createDirectory()
    expect(await Promise.all([who(0), who(1), who(2), who(3)])).toEqual(['http://one', 'http://one', 'http://two', 'http://two'])
    expect(state.reads).toBe(1)
  })

  it('reads the group again after 5 s', async () => {
    const { who, state } = createDirectory()
    await who(0)
    state.members = [member('http://three', [0, 1, 2, 3])]
    state.nowMs += 4_999
    expect(await who(0)).toBe('http://one')
    state.nowMs += 1
    expect(await who(0)).toBe('http://three')
  })

  it('asks the new owner when the old one no longer answers', async () => {
    const { who, state } = createDirectory()
    await who(0)
    state.down.add('http://one')
    state.members = [member('http://two', [0, 1, 2, 3])]
    state.nowMs += 250
    expect(await who(0)).toBe('http://two')
    expect(state.reads).toBe(2)
  })

  it('asks an owner that is down once, and does not read the group for each request', async () => {
    const { who, state } = createDirectory()
    state.down.add('http://one')
    for (let turn = 0; turn < 50; turn++) await expect(who(0)).rejects.toMatchObject({ code: 'not-ready' })
    expect(state.reads).toBe(1)
  })

  it('reports no owner as not ready, also where a member shows no URL', async () => {
    const { who, state } = createDirectory()
    state.members = [member(undefined, [0]), member('file:///etc', [1]), member(7, [2])]
    for (const partition of [0, 1, 2, 3]) await expect(who(partition)).rejects.toMatchObject({ code: 'not-ready' })
  })

  it('asks the scheduler of its own process without the group', async () => {
    const local = new MemoryOwner(4)
    local.notReady.add(1)
    const { who, state } = createDirectory({ local })
    expect(await who(0)).toBeUndefined()
    expect(state.reads).toBe(0)
    expect(await who(1)).toBe('http://one')
  })

  it('says why an owner decides nothing, and which owner it is, in any process', async () => {
    const local = new MemoryOwner(4)
    local.notReady.add(1)
    local.problem = 'Its clock is 5 ms ahead.'
    const there = new MemoryOwner(4)
    there.problem = 'Its clock was set.'
    const remote = () => ({ partitions: async () => there.partitions() }) as unknown as RemoteOwner
    const { directory } = createDirectory({ local, remote })
    expect(await directory.problem(0)).toMatch(/^The owner of its partition, another process, .* Its clock is 5 ms ahead\.$/)
    expect(await directory.problem(1)).toMatch(/, name@http:\/\/one, decides nothing for now\. Its clock was set\.$/)
    local.problem = undefined
    expect(await directory.problem(0)).toBeUndefined()
  })

  it('passes other errors on', async () => {
    const { directory } = createDirectory()
    await expect(directory.ask(0, () => Promise.reject(new RangeError('odd')))).rejects.toThrow('odd')
  })

  it('shows every partition, closed where nobody answers', async () => {
    const { directory, state } = createDirectory()
    expect((await directory.views()).map((view) => view.phase)).toEqual(['active', 'active', 'active', 'active'])
    state.members = []
    state.nowMs += 10_000
    expect(await directory.views()).toEqual(
      [0, 1, 2, 3].map((partition) => ({
        partition,
        phase: 'closed',
        ...{ restoreRemaining: 0, restoreTotal: 0, mailboxDepth: 0, overdueMs: 0 },
        ...{ jobsOffset: 0, commandsOffset: 0, eventsOffset: 0 },
        underWay: { dispatched: 0, running: 0, waiting: 0, withoutHandler: 0, inPausedPools: 0 },
        instance: null,
        url: null,
      })),
    )
  })
})

describe('an owner in another process', () => {
  it('gives the same answers as the one in this process', async () => {
    const apiTokens = [{ role: 'operator' as const, token: 'do' }]
    await using system = createSystem({ apiTokens })
    const remote = remoteQueries(await system.api.listen('127.0.0.1', 0), { token: peerToken(apiTokens) })
    const id = 'a/ü?%'
    const job = system.add(id, { active: [activeRun(2)], lastRun: finishedRun(1, { x: 1 }) })
    if (job.definition)
      job.definition = { ...job.definition, payload: Buffer.from([0, 255]), headers: { $bytes: Buffer.from('h') } }
    system.owner.finished.set(id, [finishedRun(1, { x: 1 })])
    const partition = partitionOf(id, 4)
    expect(await remote.job(partition, id)).toEqual(job)
    expect(await remote.job(partition, 'none')).toBeUndefined()
    expect(await remote.runs(partition, id)).toEqual({
      ...{ active: [activeRun(2)], finished: [finishedRun(1, { x: 1 })], life: '' },
    })
    expect(await remote.runs(partition, 'none')).toBeUndefined()
    expect(await remote.deadRun(partition, id, 1)).toBeUndefined()
    const reasons = [{ code: 'expired', text: 'A command was dropped.', at: 5, commandId: 'c' }]
    system.owner.reasons.set(id, reasons)
    expect(await remote.why(partition, id)).toEqual({ status: 'ACTIVE', reasons })
    expect(await remote.why(partition, 'none')).toBeUndefined()
    expect(await remote.list(partition, { handler: 'noop' }, 10)).toEqual({ jobs: [job], looked: 1 })
    expect(await remote.list(partition, { handler: 'noop', status: 'ACTIVE', dueBefore: 1 }, 10, 'Z')).toEqual({
      jobs: [],
      looked: 0,
    })
    expect(await remote.applied(partition, { jobs: 5 }, 10)).toBe(false)
    expect(await remote.applied(partition, {}, 10)).toBe(true)
    expect(await remote.partitions()).toEqual(system.owner.partitions())
    system.owner.notReady.add(partition)
    await expect(remote.job(partition, id)).rejects.toMatchObject({
      code: 'not-ready',
      message: `Partition ${partition} restores.`,
    })
  })

  it('is not ready if it has no scheduler, does not listen, is not Duelog or is too slow', async () => {
    await using none = createSystem({ local: undefined })
    const url = await none.api.listen('127.0.0.1', 0)
    await expect(remoteQueries(url).job(0, 'a')).rejects.toMatchObject({ code: 'not-ready' })
    expect(await remoteQueries(url).partitions()).toEqual([])
    await using slow = createSystem()
    slow.owner.job = () => new Promise(() => {})
    await expect(remoteQueries(await slow.api.listen('127.0.0.1', 0), { timeoutMs: 20 }).job(0, 'a')).rejects.toMatchObject({
      code: 'not-ready',
    })
    await none.api.stop()
    await expect(remoteQueries(url).job(0, 'a')).rejects.toMatchObject({ code: 'not-ready' })
  })

  it('gives a list the time to wait for its turn', async () => {
    await using slow = createSystem()
    const remote = remoteQueries(await slow.api.listen('127.0.0.1', 0), { timeoutMs: 20 })
    slow.owner.job = () => new Promise(() => {})
    const empty = { jobs: [], looked: 7 }
    slow.owner.list = () =>
      remote.job(0, 'a').then(
        () => empty,
        () => empty,
      )
    expect(await remote.list(0, {}, 1)).toEqual(empty)
  })

  it('reports when the tokens of two processes differ', async () => {
    await using system = createSystem({ apiTokens: [{ role: 'viewer', token: 'look' }] })
    const url = await system.api.listen('127.0.0.1', 0)
    await expect(remoteQueries(url, { token: 'other' }).job(0, 'a')).rejects.toMatchObject({ code: 'peer-refused' })
  })
})

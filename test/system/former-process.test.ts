/** A process that was killed is taken out of its groups by the next one of its data folder, which then waits for no session. */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { hostname, tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { newInstance } from '../../src/ground/process/instance.ts'
import { connectLog } from '../../src/log/kafka/log.ts'
import { isDead, succeed } from '../../src/program/system/former-process.ts'
import { brokers, makeTopics, uniquePrefix } from '../kafka/harness.ts'

const silent = { debug() {}, info() {}, warn() {}, error() {} }

async function folder(): Promise<string> {
  const made = await mkdtemp(join(tmpdir(), 'duelog-former-'))
  onTestFinished(() => rm(made, { recursive: true, force: true }))
  return made
}

/** A pid that was one of this machine. */
async function deadPid(): Promise<number> {
  const child = spawn(process.execPath, ['-e', ''])
  await once(child, 'exit')
  return child.pid ?? 0
}

test('a process is known to be dead only on its own machine, by its pid', async () => {
  expect(isDead(`duelog@${hostname()}:${await deadPid()}:ab`)).toBe(true)
  expect(isDead(`duelog@${hostname()}:${process.pid}:ab`)).toBe(true)
  expect(isDead(`duelog@${hostname()}:${process.ppid}:ab`)).toBe(false)
  expect(isDead(`duelog@elsewhere:${await deadPid()}:ab`)).toBe(false)
  expect(isDead('')).toBe(false)
})

test('no member that may live is removed from a group, and errors do not prevent the start', async () => {
  const dataDir = await folder()
  const asked: string[] = []
  const run = (instance: string, removeDeparted: () => Promise<number>): Promise<void> =>
    succeed({ dataDir, instance, groups: ['g'], log: { removeDeparted }, logger: silent })
  const note = async (instance: string): Promise<number> => asked.push(instance)
  await run('first', () => note('nobody before'))
  await writeFile(join(dataDir, 'instance'), `duelog@${hostname()}:${process.ppid}:ab\n`)
  await run('second', () => note('lives'))
  expect(asked).toEqual([])
  await writeFile(join(dataDir, 'instance'), `duelog@${hostname()}:${await deadPid()}:ab\n`)
  await run('third', () => Promise.reject(new Error('away')))
  expect(await readFile(join(dataDir, 'instance'), 'utf8')).toBe('third\n')
})

test('the member of a killed process leaves at once, and the next one gets its partitions long before its session ends', async () => {
  const { jobs } = await makeTopics(['jobs'], 2)
  const [dataDir, groupId] = [await folder(), `${uniquePrefix()}group`]
  const child = spawn(process.execPath, [join(import.meta.dirname, '../tools/lost-member.ts')], {
    env: { ...process.env, MEMBER: JSON.stringify({ brokers, groupId, topic: jobs, dataDir }) },
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  await Promise.race([once(child.stdout, 'data'), once(child, 'exit').then(() => Promise.reject(new Error('the member ended')))])
  const exit = once(child, 'exit')
  child.kill('SIGKILL')
  await exit

  const instance = newInstance()
  const log = connectLog({ brokers, clientId: instance })
  const admin = await log.admin()
  onTestFinished(() => admin.close())
  expect(await admin.groupMembers(groupId)).toHaveLength(1)
  let removed = 0
  const removeDeparted = async (former: string, groups: readonly string[]): Promise<number> => {
    removed = await log.removeDeparted(former, groups)
    return removed
  }
  await succeed({ dataDir, instance, groups: [groupId, `${groupId}-other`], log: { removeDeparted }, logger: silent })
  expect(removed).toBe(1)
  expect(await admin.groupMembers(groupId)).toEqual([])
  const assigned = Promise.withResolvers<number>()
  const reader = log.reader({
    groupId,
    topics: [jobs],
    instance,
    onAssigned: (places) => void assigned.resolve(places.length),
    onBatch: () => undefined,
    onCrash: assigned.reject,
  })
  onTestFinished(() => reader.stop())
  await reader.start()
  // With the dead member in the group, whose session lasts 10 minutes, no test would live to see this.
  expect(await assigned.promise).toBe(2)
})

/** Helpers of the fault tests: own topics on the real broker, jobs with their expected occurrences, and the checker. */
import { randomUUID } from 'node:crypto'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pino } from 'pino'
import { createClient, type Job, type KafkaClient } from '../../src/clients/library/index.ts'
import { readConfig } from '../../src/ground/config/config.ts'
import { connectLog } from '../../src/log/kafka/log.ts'
import { type System, startSystem } from '../../src/program/system/system.ts'
import { topicNames, topicPlans } from '../../streams/topics/topics.ts'
import { Checker } from '../tools/checker.ts'
import type { Occurrence } from '../tools/checker-audit.ts'
import { DuelogProcess, type Test } from '../tools/duelog-process.ts'
import type { SchedulerPlan } from '../tools/duelog-process-plan.ts'
import { tellIfFailed } from '../tools/story.ts'

export const brokers = (process.env.DUELOG_TEST_BROKERS ?? '').split(',')
export const registryUrl = process.env.DUELOG_TEST_REGISTRY ?? ''

/** A folder that is removed after the test. */
export async function temporaryFolder(test: Test): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'duelog-faults-'))
  test.onTestFinished(() => rm(folder, { recursive: true, force: true, maxRetries: 40, retryDelay: 100 }))
  return folder
}

/** Jobs and their expected occurrences. */
export interface Portion {
  jobs: Job[]
  expected: Occurrence[]
  /** A recurring job has no occurrence before its definition was appended. */
  recurs: boolean
}

export interface Site {
  prefix: string
  names: ReturnType<typeof topicNames>
  folder: string
  plan: SchedulerPlan
  checker: Checker
  client: KafkaClient
  /** Writes the jobs. Resolves with the expected occurrences. */
  write(...portions: Portion[]): Promise<Occurrence[]>
  /** A scheduler process that was started. */
  scheduler(more?: Partial<SchedulerPlan>): Promise<DuelogProcess>
  /** A process with these roles that is ready. Each folder is a machine. */
  system(roles: string, machine: string, settings?: Record<string, string>): Promise<DuelogProcess>
  /** The same in the process of the test, for roles that nothing happens to: it costs a third of the processor time. */
  here(roles: string, machine: string): Promise<System>
}

/** Topics, a folder, a client and a checker for one test. Tests that run at the same time have their own. */
export async function openSite(
  test: Test,
  options: { partitions?: number; brokers?: string[]; registryUrl?: string } = {},
): Promise<Site> {
  const { partitions = 2 } = options
  const bed = { brokers: options.brokers ?? brokers, registryUrl: options.registryUrl ?? registryUrl }
  const prefix = `f-${randomUUID().slice(0, 8)}.`
  const names = topicNames(prefix)
  const folder = await temporaryFolder(test)
  const log = connectLog({ brokers: bed.brokers, clientId: 'faults' })
  await log.ensureTopics({ plans: topicPlans(names, ['default']), partitions, replication: 1 })
  const client = createClient({ ...bed, topicPrefix: prefix })
  test.onTestFinished(() => client.close())
  const checker = await Checker.open({ brokers: bed.brokers, prefix, partitions })
  tellIfFailed(test, () => checker.story())
  test.onTestFinished(() => checker.close())
  const plan: SchedulerPlan = { ...bed, prefix, partitions, folder: join(folder, 'store') }
  const scheduler = async (more: Partial<SchedulerPlan> = {}) => (await DuelogProcess.scheduler(test, { ...plan, ...more })).go()
  const write = async (...portions: Portion[]): Promise<Occurrence[]> => {
    const { rejections } = await client.scheduleMany(portions.flatMap(({ jobs }) => jobs))
    if (rejections[0] !== undefined) throw rejections[0].error
    const writtenAt = Date.now()
    return portions.flatMap(({ expected, recurs }) =>
      recurs ? expected.map((each) => ({ ...each, optional: each.scheduledFor <= writtenAt })) : expected,
    )
  }
  const settingsOf = (roles: string, machine: string) => ({
    KAFKA_BROKERS: bed.brokers.join(','),
    SCHEMA_REGISTRY_URL: bed.registryUrl,
    DUELOG_TOPIC_PREFIX: prefix,
    DUELOG_ROLES: roles,
    DUELOG_DATA_DIR: join(folder, machine),
    DUELOG_PARTITIONS: String(partitions),
    DUELOG_REPLICATION: '1',
    DUELOG_HTTP_PORT: '0',
  })
  const system = (roles: string, machine: string, settings: Record<string, string> = {}) =>
    DuelogProcess.system(test, { ...settingsOf(roles, machine), ...settings })
  const here = async (roles: string, machine: string): Promise<System> => {
    const started = await startSystem({ config: readConfig(settingsOf(roles, machine)), logger: pino({ level: 'silent' }) })
    test.onTestFinished(() => started.stop())
    await started.ready()
    return started
  }
  return { prefix, names, folder, plan, checker, client, write, scheduler, system, here }
}

/** One-shot jobs at equal intervals, and their expected occurrences. */
export function oneShots(name: string, count: number, from: number, everyMs: number): Portion {
  const jobs: Job[] = []
  const expected: Occurrence[] = []
  for (let index = 0; index < count; index++) {
    const id = `${name}-${index}`
    const at = Math.round(from + index * everyMs)
    jobs.push({ id, schedule: { at }, target: { handler: 'noop' } })
    expected.push({ jobId: id, scheduledFor: at })
  }
  return { jobs, expected, recurs: false }
}

/** Jobs that recur each `everyMs`, `times` times, and catch up with all missed occurrences. */
export function recurring(name: string, count: number, from: number, everyMs: number, times: number): Portion {
  const jobs: Job[] = []
  const expected: Occurrence[] = []
  for (let index = 0; index < count; index++) {
    const id = `${name}-${index}`
    const anchor = from + index
    const endAt = anchor + (times - 1) * everyMs
    const schedule = { everyMs, anchor }
    jobs.push({
      id,
      schedule,
      startAt: anchor,
      endAt,
      target: { handler: 'noop' },
      catchUp: 'ALL',
      catchUpMax: 1_000,
      maxConcurrentRuns: 100,
    })
    for (let time = 0; time < times; time++) expected.push({ jobId: id, scheduledFor: anchor + time * everyMs })
  }
  return { jobs, expected, recurs: true }
}

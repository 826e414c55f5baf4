/**
 * precision: a steady rate of jobs that are due at random milliseconds. The figure is the lateness of handler starts against
 * their due times (open loop).
 */
import { createClient } from '../../src/clients/library/create-client.ts'
import { type Bed, jobs, Stage } from '../tools/bed.ts'
import type { ChildReport, DuelogProcess } from '../tools/processes.ts'
import { applied } from './accept.ts'
import { settled } from './settled.ts'

const perSecondDue = 1_000
const aheadMs = 20_000
/** The same rate runs first and is reported apart: new processes compile their code while the first jobs come. */
const warmUpMs = 10_000

export async function precision(bed: Bed, n = 60_000): Promise<Record<string, unknown>> {
  const stage = await Stage.open(bed)
  try {
    const executor = await stage.start('executor,retrier', 'executor')
    const owner = await stage.start('scheduler', 'owner')
    return await steady(stage, { owner, executor, n })
  } finally {
    await stage.close()
  }
}

/** `n` jobs at the steady rate, after the warm-up. `name`: begins the ids of the jobs. */
export async function steady(
  stage: Stage,
  { owner, executor, n, name = 'job' }: { owner: DuelogProcess; executor: DuelogProcess; n: number; name?: string },
): Promise<Record<string, unknown>> {
  const before: Pick<ChildReport, 'distinct' | 'duplicates' | 'early'> = await executor.report()
  const spanMs = (n / perSecondDue) * 1_000
  const from = Date.now() + aheadMs
  const client = createClient({ brokers: stage.bed.brokers, registryUrl: stage.bed.registryUrl, topicPrefix: stage.prefix })
  const warmUp = (warmUpMs / 1_000) * perSecondDue
  await client.scheduleMany(jobs(warmUp, () => Math.floor(from - Math.random() * warmUpMs), 100, `warm-${name}`))
  await client.scheduleMany(jobs(n, () => Math.floor(from + Math.random() * spanMs), 100, name))
  await applied(stage, owner.url)
  await client.close()
  const due = before.distinct + n + warmUp
  const report = await settled(executor, due, from + spanMs)
  return {
    n,
    perSecondDue,
    duplicates: report.duplicates - before.duplicates,
    lost: due - report.distinct,
    early: report.early - before.early,
    latenessMs: report.latenessMs,
    warmUpLatenessMs: report.warmUpLatenessMs,
    schedulerCpuMs: Math.round((await owner.report()).cpuMs),
    executorCpuMs: Math.round(report.cpuMs),
  }
}

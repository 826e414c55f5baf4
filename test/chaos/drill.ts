/**
 * One drill: three brokers, a registry, the product, a load and the checker, then one fault after another, each judged at its
 * end.
 */
import { mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import { mulberry32 } from '../tools/mulberry32.ts'
import { type AuditResult, productAudit } from './audit.ts'
import { Canary } from './checker/canary.ts'
import { Checker, type CheckerVerdict } from './checker/checker.ts'
import { startBrokers } from './cluster/broker.ts'
import { untilInSync } from './cluster/in-sync.ts'
import { registryUrl, startRegistry } from './cluster/registry.ts'
import type { Tools } from './cluster/tools.ts'
import { mountDisks } from './disks.ts'
import { untilShared } from './faults/effects.ts'
import type { Fault } from './faults/fault.ts'
import { rollingSchedulers } from './faults/owner-faults.ts'
import { defineJobs, type Load } from './load/definitions.ts'
import { createDrillTopics } from './load/drill-topics.ts'
import type { Network } from './network/network.ts'
import type { DrillOptions } from './options.ts'
import { notRun, type Result, resultOf, withAudit } from './report/result.ts'
import { type Stage, untilCaughtUp, untilOnTime } from './stage.ts'
import { canaryTopic, partitions, planSystem, programsOf, targetTopic, topicPrefix } from './system/duelog.ts'
import type { Program } from './system/program.ts'

/** A fault must be over within this time, and then all partitions must be on time again. */
const recoveryMsMax = 300_000
/** If they are not on time by then, the product must have dispatched by then all that was due. */
const catchingUpMsMax = 600_000
const startMsMax = 300_000
/**
 * From when the first job is sent until it is due. The others are written faster than they become due (see load/definitions.ts).
 */
const definingMsMin = 20_000
/** An occurrence that is due less than this before a verdict, plus lateMs, may still be on its way. */
const verdictGraceMs = 2_000

export interface DrillContext {
  options: DrillOptions
  faults: readonly Fault[]
  network: Network
  tools: Tools
  python: string
  folder: string
  /** Root folder of the code of the former version. */
  former: string | undefined
  say(line: string): void
  signal: AbortSignal
  onResult(result: Result): void
}

/** Resolves with the results after all faults. All programs that it started have ended by then, also when it rejects. */
export async function drill(context: DrillContext): Promise<Result[]> {
  const running: { stop(): Promise<void> }[] = []
  try {
    const stage = await setUp(context, running)
    if (context.options.warm) await warmUp(stage)
    return await goThrough(context, stage)
  } finally {
    // Stops programs in reverse order. Brokers and registry need no order and stop together.
    await Promise.all(running.reverse().map((one) => one.stop().catch(() => {})))
  }
}

async function setUp(context: DrillContext, running: { stop(): Promise<void> }[]): Promise<Stage> {
  const { options, network, tools, folder, say, signal } = context
  const starts = join(folder, 'starts')
  const log = join(folder, 'definitions.jsonl')
  await mkdir(starts, { recursive: true })
  const needed = context.faults.some(({ name }) => name.endsWith('-disk-full'))
  const disks = needed ? await mountDisks(network, folder) : new Map()
  say(`Starting three brokers and the registry (${network.kind}) …`)
  const [brokers, registry] = await Promise.all([
    startBrokers(network, tools, folder, (broker) => void running.push(broker), options.broker),
    startRegistry(network, tools, folder, (program) => void running.push(program)),
  ])
  signal.throwIfAborted()
  await createDrillTopics(network.bootstrap('outside'))
  say('Starting three schedulers, two workers and the API …')
  const system = await planSystem({ network, folder, starts })
  running.push(...programsOf(system))
  await startAll(programsOf(system))
  signal.throwIfAborted()
  const checker = await Checker.start(context.python, {
    brokers: network.bootstrap('outside').join(','),
    registryUrl: registryUrl(network, 'outside'),
    prefix: topicPrefix,
    targetTopics: [targetTopic],
    definitions: log,
    starts,
    lateMs: options.lateMs,
  })
  running.push(checker)
  const canary = await Canary.start(context.python, {
    brokers: network.bootstrap('outside').join(','),
    topic: canaryTopic,
    partitions,
  })
  running.push(canary)
  const load: Load = {
    jobs: options.jobs,
    everyMs: Math.ceil((options.jobs / options.rate) * 1000),
    first: Date.now() + definingMsMin,
  }
  say(`Defining ${options.jobs} jobs, each due every ${load.everyMs / 1000} s …`)
  const begunAt = Date.now()
  const place = { brokers: network.bootstrap('outside'), registryUrl: registryUrl(network, 'outside'), log, signal }
  await defineJobs(place, load)
  say(`Defined in ${Math.round((Date.now() - begunAt) / 1000)} s.`)
  const stage: Stage = {
    ...{ network, tools, brokers, registry, system, checker, canary, folder, disks, place, say, signal, partitions },
    random: mulberry32(options.seed),
    rate: options.rate,
    lateMs: options.lateMs,
    former: context.former,
    begunAt: 0,
    async begin() {
      stage.begunAt = Date.now()
      await Promise.all([checker.window(stage.begunAt), canary.window(stage.begunAt)])
    },
  }
  const trouble = await untilOnTime(stage, startMsMax + Math.max(0, load.first - Date.now()))
  if (trouble !== undefined) throw new Error(`The system does not fire on time without any fault: ${trouble}`)
  say('All partitions fire on time.')
  return stage
}

/** The first scheduler creates the topics. The others start when it is ready. */
async function startAll(programs: readonly Program[]): Promise<void> {
  const [first, ...others] = programs
  await first?.start()
  await Promise.all(others.map((program) => program.start()))
}

/**
 * This is not a fault. The checker judges from its own beginning, so the first verdict finds what is lost, doubled or early here.
 */
async function warmUp(stage: Stage): Promise<void> {
  stage.say('Restarting each scheduler once …')
  await rollingSchedulers.run(stage)
}

async function goThrough(context: DrillContext, stage: Stage): Promise<Result[]> {
  const results: Result[] = []
  let before: Partial<Record<string, number>> = {}
  let stretch: Stretch | undefined
  for (const fault of context.faults) {
    context.signal.throwIfAborted()
    const missing = await fault.missing?.(stage)
    let result: Result
    if (missing === undefined) {
      const tried = await tryFault(stage, fault, before, context.options.audit === 'each')
      result = tried.result
      before = tried.found
      stretch = { from: stretch?.from ?? tried.stretch.from, until: tried.stretch.until }
    } else result = notRun(fault, missing)
    results.push(result)
    context.onResult(result)
  }
  if (context.options.audit === 'each' || stretch === undefined) return results
  const audit = await audited(stage, 'all faults', stretch)
  return results.map((result) => withAudit(result, audit))
}

/** The range of nominal times to judge. */
interface Stretch {
  from: number
  until: number
}

async function audited(stage: Stage, name: string, { from, until }: Stretch): Promise<AuditResult> {
  const begunAt = Date.now()
  const audit = await productAudit(stage.network, { from, to: until, lateMs: stage.lateMs, signal: stage.signal })
  stage.say(`${name}: audited in ${Math.round((Date.now() - begunAt) / 1000)} s`)
  return audit
}

async function tryFault(stage: Stage, fault: Fault, before: Partial<Record<string, number>>, isAudited: boolean) {
  const { checker, canary, say } = stage
  // If some replicas of a broker are still out of sync, the next fault would be two faults.
  const notReady =
    (await untilInSync(stage.network, stage.signal, recoveryMsMax)) ??
    (await untilShared(stage, recoveryMsMax)) ??
    (await untilOnTime(stage, recoveryMsMax))
  await stage.begin()
  say(`${fault.name}: ${fault.what}`)
  const troubles = notReady === undefined ? [] : [`before it began: ${notReady}`]
  try {
    await fault.run(stage)
  } catch (error) {
    stage.signal.throwIfAborted()
    troubles.push(`it could not be carried out: ${(error as Error).message}`)
  }
  const overAt = Date.now()
  say(`${fault.name} is over; waiting until all partitions fire on time`)
  const slow = await untilOnTime(stage, recoveryMsMax)
  // The machine may be too slow: late is not lost.
  const slowAt = Date.now()
  const behind = slow === undefined ? undefined : await untilCaughtUp(stage, slowAt, catchingUpMsMax)
  if (behind !== undefined) troubles.push(behind)
  troubles.push(...(await endsByThemselves(stage, fault)))
  const until = (slow === undefined ? Date.now() : slowAt) - verdictGraceMs - stage.lateMs
  const [verdict, kafkaGapMs] = await Promise.all([checker.verdict(until), canary.gapMs()])
  const { begunAt } = stage
  const stretch = { from: begunAt, until }
  const audit = isAudited ? await audited(stage, fault.name, stretch) : undefined
  const result = resultOf({ fault, begunAt, overAt, verdict, kafkaGapMs, troubles, slow, audit, before })
  return { result, found: foundIn(verdict), stretch }
}

/** Programs that ended although no fault ended them. Each is started again, so the next fault finds all of them. */
async function endsByThemselves(stage: Stage, fault: Fault): Promise<string[]> {
  const ends: string[] = []
  for (const program of [...Object.values(stage.brokers), stage.registry, ...programsOf(stage.system)]) {
    if (program.takeEndByItself() && !fault.mayEnd?.includes(program.place))
      ends.push(`${program.title} ended by itself (${program.logFile})`)
    if (!program.running) await program.start()
  }
  return ends
}

function foundIn(verdict: CheckerVerdict): Partial<Record<string, number>> {
  const counts = Object.entries(verdict.findings).map(([kind, { count }]) => [kind, count])
  return { ...Object.fromEntries(counts), startedAgain: verdict.startedAgain }
}

/** The executor role in child processes, so that handlers that keep a processor busy do not delay the scheduler. */
import { join } from 'node:path'
import { systemClock } from '../../ground/clock/index.ts'
import { DuelogError } from '../../ground/errors/index.ts'
import { modulePath, type SupervisedProcess, supervise } from '../../ground/process/index.ts'
import type { ProcessesNote } from '../../ground/records/index.ts'
import type { Decision, KeptProcesses } from '../../server/scaling/index.ts'
import type { GivenHandlers } from '../../worker/executor/index.ts'
import type { ProcessContext } from './process-context.ts'
import {
  answerPlan,
  type Channel,
  ChildMetrics,
  type Cluster,
  childFlags,
  environmentOf,
  failureOf,
  isPlanQuestion,
  type RolePlan,
  readyChild,
} from './role-child.ts'

/** Time that a process needs to stop in addition to the drain: it sends its last reports and leaves its groups. */
const stopSecondsBesideDrain = 15

/** Throws DuelogError `bad-config` for handlers that are given as functions, because they cannot be passed to another process. */
export function startExecutorProcesses(
  parts: ProcessContext,
  cluster: Cluster,
  handlers: GivenHandlers | undefined,
): ExecutorProcesses {
  if (handlers !== undefined) {
    const message =
      'handlers given in code run in this process alone; name their module by DUELOG_HANDLERS, or leave DUELOG_EXECUTOR_PROCESSES out'
    throw new DuelogError('bad-config', message)
  }
  const processes = new ExecutorProcesses(parts, cluster)
  processes.scaleTo(parts.config.executorProcesses.min, { reason: 'start', pool: null })
  parts.undo.push(() => processes.stop())
  return processes
}

interface Place {
  metrics: ChildMetrics
  /** Absent: no process has this number now. */
  child?: SupervisedProcess | undefined
  /** The name under which it has joined the groups of its pools. Undefined: it has not yet. */
  instance?: string | undefined
  /** Set while the process finishes its handlers. */
  stopping?: Promise<void> | undefined
}

/** The executor processes, numbered from 1. A number that is free again is used again, with its folder and its metrics. */
export class ExecutorProcesses implements KeptProcesses {
  readonly #parts: ProcessContext
  readonly #cluster: Cluster
  readonly #places: Place[] = []
  #isStopped = false
  /** The last decision. */
  #note: ProcessesNote | undefined
  readonly #firstReady = Promise.withResolvers<void>()

  constructor(parts: ProcessContext, cluster: Cluster) {
    this.#parts = parts
    this.#cluster = cluster
    this.#firstReady.promise.catch(() => {})
  }

  /** Resolves when the first worker has joined its pools. Rejects if it says before that why it cannot. */
  get ready(): Promise<void> {
    return this.#firstReady.promise
  }

  get running(): number {
    return this.#places.filter(({ child, stopping }) => child !== undefined && stopping === undefined).length
  }

  get paused(): number {
    const { pauses } = this.#parts
    const isPaused = ({ instance, stopping }: Place): boolean =>
      stopping === undefined && instance !== undefined && pauses.isWorkerPaused(instance)
    return this.#places.filter(isPaused).length
  }

  scaleTo(wanted: number, why?: Decision): void {
    if (this.#isStopped) return
    const { max } = this.#parts.config.executorProcesses
    if (why !== undefined) this.#tell(wanted, why)
    while (this.running < wanted && this.#places.filter(({ child }) => child !== undefined).length < max) this.#start()
    for (const place of this.#places.toReversed()) {
      if (this.running <= wanted) break
      if (place.child !== undefined && place.stopping === undefined) this.#end(place)
    }
    this.#show()
  }

  /** Ends all of them; each finishes its handlers. */
  async stop(): Promise<void> {
    this.#isStopped = true
    for (const place of this.#places) if (place.child !== undefined && place.stopping === undefined) this.#end(place)
    await Promise.all(this.#places.map(({ stopping }) => stopping))
  }

  #start(): void {
    const free = this.#places.findIndex(({ child }) => child === undefined)
    const index = free === -1 ? this.#places.length : free
    const place = this.#places[index] ?? { metrics: this.#metricsOf(index) }
    this.#places[index] = place
    const { config, logger, metrics } = this.#parts
    const folder = join(config.dataDir, 'executors', String(index + 1))
    place.child = supervise({
      title: `executor process ${index + 1}`,
      command: process.execPath,
      args: [...childFlags, modulePath('../cli/role-process', import.meta.url)],
      env: environmentOf(config),
      folder,
      stopSeconds: Math.ceil(config.drainMs / 1_000) + stopSecondsBesideDrain,
      clock: systemClock,
      logger,
      onEnd: (end) => {
        metrics.executorEnds.inc({ end })
        place.metrics.ended()
        place.instance = undefined
      },
      isReady: (message) => readyChild(message) !== undefined,
      onMessage: (message) => this.#heard(place, folder, message),
    })
  }

  #heard(place: Place, folder: string, message: unknown): void {
    const ready = readyChild(message)
    const failure = failureOf(message)
    if (ready !== undefined) {
      place.instance = ready.instance
      this.#firstReady.resolve()
    } else if (failure !== undefined) this.#firstReady.reject(failure)
    else if (isPlanQuestion(message)) answerPlan(this.#planOf(folder), (answer) => place.child?.send(answer))
    else if (isNoteQuestion(message)) this.#tellOne(place)
    else place.metrics.received(message)
  }

  #planOf(dataDir: string): RolePlan {
    const { config } = this.#parts
    const own = { dataDir, executorProcesses: { min: 0, max: 0 } }
    return {
      config: { ...config, ...own, roles: new Set(['executor']) },
      cluster: this.#cluster,
    }
  }

  /** Its counts are read once more, as they stay in the sum. */
  #end(place: Place): void {
    const { child, metrics } = place
    place.stopping = (this.#isStopped ? Promise.resolve() : metrics.source().then(() => {}))
      .then(() => child?.stop())
      .finally(() => {
        metrics.ended()
        place.child = undefined
        place.stopping = undefined
        place.instance = undefined
        this.#show()
      })
  }

  /** Before the number changes, so that the processes announce it when their groups share the partitions again. */
  #tell(wanted: number, { reason, pool }: Decision): void {
    const { config, instance, clock } = this.#parts
    const { min, max } = config.executorProcesses
    const at = Math.round(clock.nowMs())
    this.#note = { parent: instance, wanted, min, max, reason, pool, at, coolDownMs: config.executorCoolDownMs }
    for (const place of this.#places) this.#tellOne(place)
  }

  #tellOne({ child }: Place): void {
    if (this.#note !== undefined) child?.send(noteMessage(this.#note))
  }

  #metricsOf(index: number): ChildMetrics {
    const send = (message: object): boolean => this.#places[index]?.child?.send(message) === true
    const metrics = new ChildMetrics(`executor-${index + 1}`, systemClock, send)
    this.#parts.metrics.sources.add(metrics.source)
    return metrics
  }

  #show(): void {
    const { running } = this
    const stopping = this.#places.filter((place) => place.stopping !== undefined).length
    this.#parts.metrics.executors.set({ state: 'running' }, running)
    this.#parts.metrics.executors.set({ state: 'stopping' }, stopping)
  }
}

const question = 'duelog:processes'

const isNoteQuestion = (message: unknown): boolean => (message as { ask?: unknown } | null)?.ask === question

/** The message of the parent. */
const noteMessage = (note: ProcessesNote): object => ({ answer: question, note })

/** The child's side: the last note, as the user data of its memberships. */
export function followNote(channel: Channel): () => { processes?: ProcessesNote } {
  let last: { processes?: ProcessesNote } = {}
  channel.on('message', (message) => {
    const { answer, note } = (message ?? {}) as { answer?: unknown; note?: ProcessesNote }
    if (answer === question && note !== undefined) last = { processes: note }
  })
  channel.send?.({ ask: question }, () => {})
  return () => last
}

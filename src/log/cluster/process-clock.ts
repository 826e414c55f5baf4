/** The clock of a Duelog process, and how it asks the brokers for their time when no other record is written. */
import { markHeader, markKey, type TopicNames } from '../../../streams/topics/index.ts'
import { type Clock, GuardedClock, systemClock } from '../../ground/clock/index.ts'
import type { Config } from '../../ground/config/index.ts'
import type { Logger } from '../../ground/logging/index.ts'
import type { Metrics } from '../../ground/metrics/index.ts'
import type { Log, LogWriter } from '../../ground/ports/index.ts'

export interface ProcessClockOptions {
  /** DUELOG_CLOCK_STEP_MS_MAX. */
  stepMsMax: number
  /** Whether the brokers must have confirmed the time before anything is decided. True for a scheduler. */
  needsProof: boolean
  metrics: Metrics
  logger: Logger
  /** Time between two checks while the time is not asked for, in ms. Default 1,000. */
  lookMs?: number
  /** Default: the clock of this machine. */
  clock?: Clock
}

export const processClock = ({ clock = systemClock, ...options }: ProcessClockOptions): GuardedClock =>
  new GuardedClock({ clock, ...options })

export interface TimeQuestion {
  log: Pick<Log, 'writer'>
  /** Topics to write a mark to. Topics that may keep append time come first; if a topic gave no time, the next one is tried. */
  topics: readonly string[]
  /** Partitions of each topic. */
  partitions: number
  instance: string
}

/** Partitions that one question goes to. Several brokers lead them, because the clock of one broker may be wrong. */
const askedAtOnce = 6

/**
 * Starts to watch the clock. A question is a mark record, which every reader skips (ADR 0018). Its acknowledgement contains the append time.
 * Returns a function that ends the watch.
 */
export function watchClock(clock: GuardedClock, { log, topics, partitions, instance }: TimeQuestion): () => Promise<void> {
  let opening: Promise<LogWriter> | undefined
  let next = 0
  const headers = { [markHeader]: instance }
  const ask = async (): Promise<void> => {
    opening ??= log.writer()
    opening.catch(() => {
      opening = undefined
    })
    const writer = await opening
    const asked = Array.from({ length: Math.min(askedAtOnce, partitions) }, (_, at) => (next + at) % partitions)
    next = (next + asked.length) % partitions
    for (const topic of topics) {
      const before = clock.answers
      await writer
        .write(asked.map((partition) => ({ topic, partition, key: markKey, value: null, headers })))
        .catch((error: unknown) => {
          // A worker may have no right to write to this topic.
          if (topic === topics.at(-1)) throw error
        })
      if (clock.answers > before) return
    }
  }
  let asked: Promise<unknown> = Promise.resolve()
  clock.start(() => {
    const question = ask()
    asked = question.catch(() => {})
    return question
  })
  return async () => {
    clock.stop()
    // A question that is written while its writer closes would open a connection that nobody closes.
    await asked
    await opening?.then(
      (writer) => writer.close(),
      () => {},
    )
  }
}

/** The clock of a process with these roles. Without scheduler, executor, retrier, auditor and history nothing depends on the time, so clocks are not compared. */
export function clockOf({ roles, clockStepMsMax }: Config, metrics: Metrics, logger: Logger): GuardedClock {
  const needsProof = roles.has('scheduler')
  const acts = needsProof || roles.has('executor') || roles.has('retrier') || roles.has('auditor') || roles.has('history')
  return processClock({ stepMsMax: acts ? clockStepMsMax : 0, needsProof, metrics, logger })
}

export interface ClockParts {
  config: Pick<Config, 'roles'>
  clock: GuardedClock
  log: Pick<Log, 'writer'>
  names: TopicNames
  partitions: number
  instance: string
  undo: (() => Promise<unknown>)[]
}

/** Owners may write to jobs, which has append time in every version. Workers and the retry forwarder may write to events. */
export function startClock({ config, clock, log, names, partitions, instance, undo }: ClockParts): void {
  const topics = config.roles.has('scheduler') ? [names.jobs] : [names.events, names.jobs]
  undo.push(watchClock(clock, { log, topics, partitions, instance }))
}

/** The clock of a process of ours, and how it asks brokers for the time where nothing else makes them say it. */
import type { Logger } from 'pino'
import { markHeader, markKey, type TopicNames } from '../../streams/topics/index.ts'
import { type Clock, GuardedClock, systemClock } from '../clock/index.ts'
import type { Config } from '../config/index.ts'
import type { Metrics } from '../metrics/index.ts'
import type { Log, LogWriter } from '../ports/index.ts'

export interface ProcessClockOptions {
  /** DUELOG_CLOCK_STEP_MS_MAX. */
  stepMsMax: number
  /** Whether brokers must have agreed before anything is decided: so it is where jobs are. */
  needsProof: boolean
  metrics: Metrics
  logger: Logger
  /** Between two looks while nobody asks for the time, in ms. Default 1,000. */
  lookMs?: number
  /** Default: that of this machine. */
  clock?: Clock
}

export const processClock = ({ clock = systemClock, ...options }: ProcessClockOptions): GuardedClock =>
  new GuardedClock({ clock, ...options })

export interface TimeQuestion {
  log: Pick<Log, 'writer'>
  /** Topics to write a mark to, those first that may keep the brokers' time; with the next one where nothing came of it. */
  topics: readonly string[]
  /** Of each of them. */
  partitions: number
  instance: string
}

/** Partitions that one question goes to: they are led by several brokers, of which one may be wrong. */
const askedAtOnce = 6

/**
 * Begins to watch the clock. A question is a record without meaning, which every reader passes over (ADR 0018); its acknowledgement says
 * when it was appended. Returns a function that ends the watch.
 */
export function watchClock(clock: GuardedClock, { log, topics, partitions, instance }: TimeQuestion): () => Promise<void> {
  let opening: Promise<LogWriter> | undefined
  let next = 0
  const headers = { [markHeader]: instance }
  clock.start(async () => {
    opening ??= log.writer()
    opening.catch(() => {
      opening = undefined
    })
    const writer = await opening
    const asked = Array.from({ length: Math.min(askedAtOnce, partitions) }, (_, at) => (next + at) % partitions)
    next = (next + asked.length) % partitions
    for (const topic of topics) {
      const before = clock.heard
      await writer
        .write(asked.map((partition) => ({ topic, partition, key: markKey, value: null, headers })))
        .catch((error: unknown) => {
          // A worker may have no right to write there.
          if (topic === topics.at(-1)) throw error
        })
      if (clock.heard > before) return
    }
  })
  return async () => {
    clock.stop()
    await opening?.then(
      (writer) => writer.close(),
      () => {},
    )
  }
}

/** That of a process with these roles. One that only answers and passes on does nothing by the time. */
export function clockOf({ roles, clockStepMsMax }: Config, metrics: Metrics, logger: Logger): GuardedClock {
  const needsProof = roles.has('scheduler')
  const acts = needsProof || roles.has('executor') || roles.has('retrier') || roles.has('auditor')
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

/** Owners may write to jobs, whose append time is the brokers' in any version; workers and the forwarder to events. */
export function startClock({ config, clock, log, names, partitions, instance, undo }: ClockParts): void {
  const topics = config.roles.has('scheduler') ? [names.jobs] : [names.events, names.jobs]
  undo.push(watchClock(clock, { log, topics, partitions, instance }))
}

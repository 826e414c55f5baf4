/** What a fault acts on, and the conditions that a drill waits for. */
import { setTimeout as wait } from 'node:timers/promises'
import type { Canary } from './checker/canary.ts'
import type { Checker, CheckerStatus } from './checker/checker.ts'
import type { Brokers } from './cluster/broker.ts'
import type { Tools } from './cluster/tools.ts'
import type { LoadPlace } from './load/definitions.ts'
import type { Network } from './network/network.ts'
import type { Place } from './places.ts'
import type { System } from './system/duelog.ts'
import type { Program } from './system/program.ts'

export interface Stage {
  network: Network
  tools: Tools
  brokers: Brokers
  registry: Program
  system: System
  checker: Checker
  canary: Canary
  folder: string
  /** Small disks, by the places whose data is on them. */
  disks: ReadonlyMap<Place, string>
  random: () => number
  /** Where faults send jobs of their own. */
  place: LoadPlace
  /** Root folder of the code of the former version. */
  former: string | undefined
  /** Expected occurrences per second. */
  rate: number
  /** An occurrence is late if it comes more than this after its time. */
  lateMs: number
  partitions: number
  say(line: string): void
  /** The time at which the measurement of the fault began. */
  begunAt: number
  /** Begins the measurement. Drills call it, and faults that first had to prepare something. */
  begin(): Promise<void>
  /** Aborts when the drill must end. */
  signal: AbortSignal
}

const lookMs = 500
/** On time means: no occurrence was late for this long, and none is missing. */
export const onTimeMs = 5_000

/** Whether all partitions fire, and none was late for five seconds. */
export function isOnTime(status: CheckerStatus, stage: Pick<Stage, 'rate' | 'partitions'>, now: number): boolean {
  // A partition fires once in this time on average; a silence of ten times as long is a failure.
  const silenceMs = Math.max(onTimeMs, (10_000 * stage.partitions) / stage.rate)
  const heard = Object.values(status.partitions).filter((at) => now - at < silenceMs)
  return status.missing === 0 && now - status.lateAt > onTimeMs && heard.length === stage.partitions
}

/** Resolves when all partitions fire on time. After the limit it resolves with a sentence about the state. */
export async function untilOnTime(stage: Stage, limitMs: number): Promise<string | undefined> {
  const until = Date.now() + limitMs
  for (;;) {
    stage.signal.throwIfAborted()
    const status = await stage.checker.status()
    const now = Date.now()
    if (isOnTime(status, stage, now)) return undefined
    if (now > until) return `not on time after ${limitMs / 1000} s: ${describe(status, now)}`
    await wait(lookMs, undefined, { signal: stage.signal })
  }
}

/** Resolves when nothing is missing that was due at `time`. After the limit it resolves with a sentence about the state. */
export async function untilCaughtUp(stage: Stage, time: number, limitMs: number): Promise<string | undefined> {
  const until = Date.now() + limitMs
  for (;;) {
    stage.signal.throwIfAborted()
    const status = await stage.checker.status()
    if (status.missing === 0 || (status.oldest ?? 0) > time) return undefined
    if (Date.now() > until) return `${limitMs / 1000} s later something is still missing: ${describe(status, Date.now())}`
    await wait(lookMs, undefined, { signal: stage.signal })
  }
}

export function describe(status: CheckerStatus, now: number): string {
  const silent = Object.entries(status.partitions).filter(([, at]) => now - at > onTimeMs)
  const parts = [
    `${status.missing} missing${status.oldest === null ? '' : `, the first since ${Math.round((now - status.oldest) / 1000)} s`}`,
    `last late ${status.lateAt === 0 ? 'never' : `${Math.round((now - status.lateAt) / 1000)} s ago`}`,
    `${Object.keys(status.partitions).length} partitions heard, silent: ${silent.map(([name]) => name).join(' ') || 'none'}`,
  ]
  return parts.join('; ')
}

/** Waits for the duration of a cut, a suspension or an absence. It ends early only with the drill. */
export const last = (stage: Stage, ms: number): Promise<void> => wait(ms, undefined, { signal: stage.signal })

/** URL of the HTTP server at a place, for programs outside. */
export const urlOf = ({ network }: Pick<Stage, 'network'>, place: Place): string =>
  `http://${network.host(place)}:${network.httpPort(place)}`

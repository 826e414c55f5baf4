/** The handlers that every worker has. Their names are reserved. */
import type { networkInterfaces } from 'node:os'
import { setTimeout as wait } from 'node:timers/promises'
import { httpHandlerName } from '../../../../streams/targets/index.ts'
import type { Clock } from '../../../ground/clock/index.ts'
import type { Logger } from '../../../ground/logging/index.ts'
import type { LogWriter } from '../../../ground/ports/index.ts'
import { addressGuard, ownAddresses } from './address-guard.ts'
import type { Handler, Handlers, Run } from './handler.ts'
import { NonRetryableError } from './handler.ts'
import { httpHandler, signingKeyOf } from './http.ts'
import { kafkaProduceHandler } from './kafka-produce.ts'

const sleepMsMax = 604_800_000

/** Does nothing and returns at once. */
const noop: Handler = () => undefined

/** Logs the payload, also where only warnings are shown, which is the default on a terminal: the line is what the job is for. */
const log: Handler = (run) => {
  const payload = Buffer.isBuffer(run.payload) ? run.payload.toString('utf8') : run.payload
  const logger: Pick<Logger, 'info'> = run.logger.level === 'warn' ? run.logger.child({}, { level: 'info' }) : run.logger
  logger.info({ event: 'run-logged', scheduledFor: new Date(run.scheduledFor).toISOString(), payload }, 'run')
}

/** `{"ms"}`: takes this long. */
const sleep: Handler = (run) => wait(numberOf(run, 'ms', sleepMsMax), undefined, { signal: run.signal })

/** `{"times"}`: this many attempts fail, the next one succeeds. */
const fail: Handler = (run) => {
  const times = numberOf(run, 'times', Number.MAX_SAFE_INTEGER)
  if (run.attempt <= times) throw new Error(`attempt ${run.attempt} of the ${times} that shall fail`)
  return { attempt: run.attempt }
}

const plain: Handlers = { noop, log, sleep, fail }

const produceHandlerName = 'kafka.produce'
const reserved: ReadonlySet<string> = new Set([...Object.keys(plain), produceHandlerName, httpHandlerName])

/**
 * Why a user's handler cannot have this name; undefined if it can. Runs go to any worker of the pool that has their handler, and the
 * workers of Duelog have these: they would take a part of the runs.
 */
export const reservedNameProblem = (name: string): string | undefined =>
  reserved.has(name)
    ? `handler "${name}" has the name of a built-in one, which other workers of the pool run too; give it another name, such as "my-${name}"`
    : undefined

export interface BuiltInOptions {
  /** Addresses and networks that http targets must not reach. */
  httpDeny: readonly string[]
  /** Exceptions from them. Default: none. */
  httpAllow?: readonly string[]
  /** Key that signs http requests, as whsec_… */
  httpSigningKey: string | undefined
  /** Opens the writer of kafka.produce, at its first run. */
  writer: () => Promise<LogWriter>
  /** Prefix of our own topics. */
  prefix: string
  clock: Clock
  /** Reads the network interfaces of this machine. Default: from the system. */
  interfaces?: typeof networkInterfaces
}

export function builtInHandlers(options: BuiltInOptions): Handlers {
  const { httpDeny, httpAllow, httpSigningKey, writer, prefix, clock, interfaces } = options
  const signingKey = httpSigningKey === undefined ? undefined : signingKeyOf(httpSigningKey)
  const guard = addressGuard({ deny: httpDeny, allow: httpAllow ?? [], own: ownAddresses(clock, interfaces) })
  return {
    ...plain,
    [httpHandlerName]: httpHandler({ guard, signingKey, clock }),
    [produceHandlerName]: kafkaProduceHandler(writer, prefix),
  }
}

function numberOf(run: Run, field: string, max: number): number {
  const value = (run.payload as Record<string, unknown> | null)?.[field]
  if (typeof value === 'number' && value >= 0 && value <= max) return value
  throw new NonRetryableError(`the payload must be JSON like {"${field}": 1}, a number from 0 to ${max}`)
}

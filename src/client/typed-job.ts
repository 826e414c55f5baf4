/** Jobs whose payloads the compiler checks against the handlers that get them. */
import type { Job } from './job.ts'

/** Payloads by handler. A program writes its own: `interface Payloads { 'send-report': { to: string } }`. */
export type AnyPayloads = Record<string, unknown>

/**
 * A job for one of these handlers, with the payload of that handler, or with a topic or an http target. A handler whose payload may be
 * undefined takes jobs without one.
 */
export type JobFor<Payloads extends object> = string extends keyof Payloads
  ? Job
  : Omit<Job, 'target' | 'payload'> &
      (
        | { [Name in keyof Payloads & string]: HandlerJob<Name, Payloads[Name]> }[keyof Payloads & string]
        | { target: Exclude<Job['target'], { handler: string }>; payload?: unknown }
      )

type HandlerJob<Name extends string, Payload> = {
  target: { handler: Name; pool?: string | undefined }
} & (undefined extends Payload ? { payload?: Payload } : { payload: Payload })

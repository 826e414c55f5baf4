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

/** Targets of jobs: one of these handlers, a topic, or an http target. */
export type TargetFor<Payloads extends object> = string extends keyof Payloads
  ? Job['target']
  : { handler: keyof Payloads & string; pool?: string | undefined } | Exclude<Job['target'], { handler: string }>

/** A job with this target, and the payload that belongs to it: the compiler names the field that is wrong, and not the whole job. */
export type JobTo<Payloads extends object, Target> = string extends keyof Payloads
  ? Job
  : Omit<Job, 'target' | 'payload'> & { target: Target & NoOther<Target, TargetFor<Payloads>> } & PayloadTo<Payloads, Target>

/** Jobs with these targets, in an array that is written where it is given: the compiler names the field of the job that is wrong. */
export type JobsTo<Payloads extends object, Targets extends readonly unknown[]> = {
  [At in keyof Targets]: JobTo<Payloads, Targets[At]>
}

/** The compiler looks for unknown fields only in types that are not inferred. */
type NoOther<Given, Shape> = Given extends object
  ? { [Field in keyof Given]: Field extends FieldOf<Shape> ? NoOther<Given[Field], At<Shape, Field>> : never }
  : Given

type FieldOf<Shape> = Shape extends unknown ? keyof Shape : never

type At<Shape, Field extends PropertyKey> = Shape extends { [Its in Field]?: infer Value } ? Value : never

type PayloadTo<Payloads extends object, Target> = Target extends { handler: infer Name extends keyof Payloads }
  ? undefined extends Payloads[Name]
    ? { payload?: Payloads[Name] }
    : { payload: Payloads[Name] }
  : { payload?: unknown }

/** A JobFor whose target the compiler does not know. It takes no other: of overloads that fail, the compiler shows the last one. */
export type AnyJobFor<Payloads extends object, Given> = JobFor<Payloads> extends Given ? Given : never

/** What the handler of this target returns, as far as a program says it. */
export type ResultOf<Results extends object, Target> = Target extends { handler: infer Name extends keyof Results }
  ? Results[Name]
  : unknown

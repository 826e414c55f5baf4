/** A job as users write it: the JSON form of the contract, and jobs whose payloads the compiler checks against the handlers that get them. */
import type { DstGap, DstOverlap, HttpMethod, IntervalFrom, Priority } from '../../../schemas/index.ts'
import type { JobDefinition, Retry } from '../../ground/answers/index.ts'

/** ISO 8601 with an offset, epoch ms, or a Date. */
export type Time = string | number | Date

/** Text, or bytes in base64. */
export type Bytes = string | { base64: string }

interface Exclusions {
  /** Times that are left out. */
  exdates?: Time[] | undefined
}

interface LocalTime {
  /** IANA name. Default: UTC. */
  timezone?: string | undefined
  /** Default: NEXT_VALID. */
  dstGap?: DstGap | undefined
  /** Default: FIRST. */
  dstOverlap?: DstOverlap | undefined
}

interface Kinds {
  at: { at: Time }
  delayMs: { delayMs: number }
  /** `from`: default START. */
  everyMs: { everyMs: number; anchor?: Time | undefined; from?: IntervalFrom | undefined } & Exclusions
  cron: { cron: string } & LocalTime & Exclusions
  rrule: {
    /** Of RFC 5545, without DTSTART. */
    rrule: string
    /** Where it begins, in whole seconds. */
    dtstart?: Time | undefined
  } & LocalTime &
    Exclusions
}

interface Backoffs {
  list: number[]
  fixed: { delayMs: number }
  linear: { stepMs: number }
  exponential: { baseMs: number; factor?: number | undefined; maxMs?: number | undefined }
}

/** Exactly one of `list`, `fixed`, `linear` and `exponential`. */
export type Backoff = {
  [Kind in keyof Backoffs]: { [Its in Kind]: Backoffs[Its] } & { [Other in Exclude<keyof Backoffs, Kind>]?: undefined }
}[keyof Backoffs]

type FieldOfSchedule = { [Kind in keyof Kinds]: keyof Kinds[Kind] }[keyof Kinds]

/** Exactly one of `at`, `delayMs`, `everyMs`, `cron` and `rrule`, with the fields that belong to it. */
export type Schedule = {
  [Kind in keyof Kinds]: Kinds[Kind] & { [Field in Exclude<FieldOfSchedule, keyof Kinds[Kind]>]?: undefined }
}[keyof Kinds]

/** The fields of what the API takes, but for `Left`, as programs write them: `Own` types, and what is undefined is absent. */
export type FieldsOf<Taken, Left extends keyof Taken, Own = object> = {
  [Field in keyof Omit<Taken, Left>]: (Field extends keyof Own ? Own[Field] : Exclude<Taken[Field], null>) | undefined
}

interface OwnTypes {
  priority: Priority | 0 | 1 | 2 | 3 | 4 | 5 | 6 | 7 | 8 | 9
  retry: FieldsOf<Retry, never, { backoff: Backoff }>
  startAt: Time
  endAt: Time
  expireAt: Time
}

/** A job. Every default and limit is also in [JOBS](JOBS.md). */
export interface Job extends FieldsOf<JobDefinition, 'id' | 'schedule' | 'target' | 'payload', OwnTypes> {
  /** 1 to 255 bytes of UTF-8 without control characters, other than `.` and `..`. A job with the same id is replaced. */
  id: string
  /** When it is due. */
  schedule: Schedule
  /** What runs: exactly one of `handler`, `topic` and `http`. `pool`: the workers that run it, default `default`. */
  target:
    | { handler: string; pool?: string | undefined }
    /** Written by the owner when it is due, exactly once. Without a key: the job id. */
    | { topic: { name: string; key?: Bytes | undefined; partition?: number | undefined } }
    | {
        http: { url: string; method?: HttpMethod | undefined; headers?: Record<string, string> | undefined }
        pool?: string | undefined
      }
  /**
   * Any JSON value as JSON.stringify writes it, at most 512 KB; no NaN, Infinity, BigInt or lone surrogate. Text if
   * `contentType` is not JSON.
   */
  payload?: unknown
}

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

/** What the calls of owners over HTTP are made of: their form, and the schemas of common parameters. */
import type { Asker, CutOff, PartitionQueries } from '../../ports/index.ts'
import { closed } from '../schemas/index.ts'
import type { Owner } from './owner.ts'

export type Values = Record<string, string | number | boolean | undefined>

/** What the caller sends. `waitMs`: how long the owner may take in addition to the usual time limit. */
export interface Request {
  params: Values
  query?: Values
  waitMs?: number
  asker?: Asker | undefined
}

export interface OwnerCall<Name extends keyof PartitionQueries> {
  path: string
  /** Only of a call that changes something: its name in the audit trail. Default: it is a GET. */
  audit?: 'CHANGE_JOBS'
  schema: { hide: true; params: object; querystring: object }
  /** Field of the body that holds the answer. Absent: the body is the answer. */
  field?: string
  /** What the caller makes of the arguments. */
  request: (...args: PartitionQueries[Name] extends (...args: infer Args) => unknown ? Args : never) => Request
  /** What the owner does with params and query. `asker` is called only by long queries, because it watches the connection. */
  answer: (queries: Owner, given: never, asker: () => Asker) => Promise<unknown>
}

export const integer = (minimum: number) => ({ type: 'integer', minimum }) as const
export const [text, flag] = [{ type: 'string' }, { type: 'boolean' }] as const
export const ofPartition = closed({ partition: integer(0) }, ['partition'])
/** A query of HTTP is flat: the fields of a filter of jobs, of a cut-off, and of the place in the order of job ids. */
export const filterFields = { status: text, tag: text, handler: text, idPrefix: text, idContains: text } as const
/** Fields of a filter of dead runs, by their ends. */
export const endFields = { diedFrom: integer(0), diedTo: integer(0), errorType: text, errorKind: text } as const
export const placeFields = { after: text, jobsOffset: integer(0), at: integer(0) } as const
export const schemaOf = (params: object, querystring: object) => ({ hide: true, params, querystring }) as const

export interface OfPartition {
  partition: number
}

export type FlatPlace = Partial<CutOff> & { after?: string }

/** The place as the queries of owners have it. */
export function placeOf({ after, jobsOffset, at }: FlatPlace): { after?: string; cutOff?: CutOff } {
  return {
    ...(jobsOffset !== undefined && at !== undefined && { cutOff: { jobsOffset, at } }),
    ...(after !== undefined && { after }),
  }
}

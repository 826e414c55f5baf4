/**
 * Where the history can be asked: in this process if it has the role, else in another one over HTTP. Processes with the role are the
 * members of the group history, or of history.<instance> where each has a database of its own.
 */
import type { Clock } from '../../clock/index.ts'
import { DuelogError } from '../../errors/index.ts'
import type { HandlerFigures, HistoryCounts, HistoryFilter, HistoryPage, HistoryQueries, LogAdmin } from '../../ports/index.ts'
import { shownUrl } from '../guards/index.ts'
import {
  handlersRangeMsMax,
  historyBucketMsDefault,
  historyBucketMsMin,
  historyBucketsMax,
  historyPlacesMaxAgeMs,
  listLimitMax,
} from '../schemas/index.ts'
import { isAway } from './standby-reads.ts'

/** Another process with a history. */
export interface RemoteHistory {
  history(query: HistoryQuery): Promise<unknown>
}

/** A question as it goes to another process. */
export type HistoryQuery =
  | { ask: 'page'; filter: HistoryFilter; limit: number; before: string | null }
  | { ask: 'counts'; filter: HistoryFilter & { from: number; to: number }; bucketMs: number }
  | { ask: 'handlers'; from: number; to: number }

export interface HistoryDirectoryOptions {
  admin: Pick<LogAdmin, 'groups' | 'groupMembers'>
  /** `<prefix>history` */
  groupId: string
  local: HistoryQueries | undefined
  /** name@host:pid:boot of this process. */
  instance: string
  remote: (url: string) => RemoteHistory
  /** The URL of a member that may be called, from its user data. Default: any URL that it publishes. */
  urlOf?: (userData: unknown) => string | undefined
  clock: Clock
}

export function createHistoryDirectory(options: HistoryDirectoryOptions): HistoryQueries {
  const { local } = options
  if (local !== undefined) return local
  const places = placesOf(options)
  const ask = async <Answer>(query: HistoryQuery): Promise<Answer> => {
    let problem: unknown
    for (const url of await places()) {
      try {
        return (await options.remote(url).history(query)) as Answer
      } catch (error) {
        if (!isAway(error)) throw error
        problem = error
      }
    }
    throw problem ?? new DuelogError('not-ready', noHistoryText)
  }
  return {
    page: (filter, limit, before) => ask<HistoryPage>({ ask: 'page', filter, limit, before }),
    counts: (filter, bucketMs) => ask<HistoryCounts>({ ask: 'counts', filter, bucketMs }),
    handlers: (from, to) => ask<HandlerFigures[]>({ ask: 'handlers', from, to }),
  }
}

const noHistoryText =
  'No process keeps the history of ended runs. Add history to DUELOG_ROLES of a process with the same tokens as this one.'

/** `text`: JSON, from another process or from anybody with an operator's token. So it has the limits of the public parameters. */
export function answerOf(
  history: HistoryQueries | undefined,
  text: string,
): Promise<HistoryPage | HistoryCounts | HandlerFigures[]> {
  if (history === undefined) throw new DuelogError('not-ready', 'This process does not have the role history.')
  const query = queryOf(text)
  if (query === undefined) throw new DuelogError('bad-request', 'This is no question to a history.')
  if (query.ask === 'page') return history.page(query.filter, query.limit, query.before)
  if (query.ask === 'handlers') return history.handlers(query.from, query.to)
  return history.counts(query.filter, query.bucketMs)
}

const textFields = ['jobId', 'idPrefix', 'tag', 'handler', 'pool', 'outcome', 'errorType', 'errorText']
const numberFields = ['from', 'to', 'minDurationMs', 'maxDurationMs']

const isFilter = (given: unknown): given is HistoryFilter =>
  typeof given === 'object' &&
  given !== null &&
  Object.entries(given).every(
    ([name, value]) =>
      (textFields.includes(name) && typeof value === 'string') ||
      (numberFields.includes(name) && Number.isSafeInteger(value)) ||
      (name === 'harmless' && typeof value === 'boolean'),
  )

/** Undefined: it is none, or asks for more than one may. */
function queryOf(text: string): HistoryQuery | undefined {
  const given = parsed(text)
  if (given?.ask === 'handlers') return handlersQueryOf(given)
  if (!isFilter(given?.filter)) return undefined
  const { ask, filter, limit, before, bucketMs } = given
  if (ask === 'page') {
    const isPlace = before === null || (typeof before === 'string' && isHistoryPlace(before))
    const isLimit = typeof limit === 'number' && Number.isInteger(limit) && limit >= 1 && limit <= listLimitMax
    return isPlace && isLimit ? { ask, filter, limit, before } : undefined
  }
  const { from, to } = filter
  if (ask !== 'counts' || from === undefined || to === undefined || !Number.isInteger(bucketMs)) return undefined
  const length = bucketMs as number
  const isBounded = length >= historyBucketMsMin && (to - from) / length <= historyBucketsMax
  return isBounded ? { ask, filter: { ...filter, from, to }, bucketMs: length } : undefined
}

function handlersQueryOf({ from, to }: { from?: unknown; to?: unknown }): HistoryQuery | undefined {
  if (typeof from !== 'number' || typeof to !== 'number' || ![from, to].every(Number.isSafeInteger)) return undefined
  return to - from <= handlersRangeMsMax + 2 * historyBucketMsDefault ? { ask: 'handlers', from, to } : undefined
}

type Given = Partial<Record<'ask' | 'filter' | 'limit' | 'before' | 'bucketMs' | 'from' | 'to', unknown>>

function parsed(text: string): Given | undefined {
  try {
    return JSON.parse(text) ?? undefined
  } catch {
    return undefined
  }
}

/** Whether a text can be the place of a page: a number of 63 bits. */
export const isHistoryPlace = (text: string): boolean => /^\d{1,19}$/.test(text) && BigInt(text) < 2n ** 63n

/** URLs of the processes with the role. Calls within a short time share one answer. */
function placesOf(options: HistoryDirectoryOptions): () => Promise<string[]> {
  let found: Promise<string[]> | undefined
  let foundAtMs = Number.NEGATIVE_INFINITY
  return () => {
    const ageMs = options.clock.steadyMs() - foundAtMs
    if (found === undefined || ageMs >= historyPlacesMaxAgeMs) {
      foundAtMs = options.clock.steadyMs()
      const finding = findPlaces(options)
      found = finding
      const forget = (): void => {
        if (found === finding) found = undefined
      }
      finding.then((urls) => {
        if (urls.length === 0) forget()
      }, forget)
    }
    return found
  }
}

async function findPlaces({ admin, groupId, instance, urlOf = shownUrl }: HistoryDirectoryOptions): Promise<string[]> {
  const groups = (await admin.groups(groupId)).filter((id) => id === groupId || id.startsWith(`${groupId}.`))
  const members = (await Promise.all(groups.map((group) => admin.groupMembers(group)))).flat()
  const others = members.filter((member) => member.instance !== instance)
  return [...new Set(others.flatMap(({ userData }) => urlOf(userData) ?? []))]
}

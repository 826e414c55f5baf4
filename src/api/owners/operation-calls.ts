/** The calls of operations to owners in other processes (owner-calls.ts). */
import {
  type AnnounceQuery,
  bulkActions,
  type ChangeQuery,
  type CutOff,
  type JobFilter,
  type TargetQuery,
} from '../../ports/index.ts'
import { announceWaitMsMax, changesMax, changeWaitMs, closed, targetsMax } from '../schemas/index.ts'
import { flag, integer, type OfPartition, type OwnerCall, ofPartition, schemaOf, text } from './call-parts.ts'

export const operationCalls: { [Name in 'targets' | 'change' | 'announce']: OwnerCall<Name> } = {
  targets: {
    path: '/:partition/targets',
    schema: schemaOf(
      ofPartition,
      closed(
        {
          ...{ action: text, commandPrefix: text, ids: text, after: text, until: text, countOnly: flag },
          ...{ status: text, tag: text, handler: text, idPrefix: text, idContains: text, runStatus: text, dead: flag },
          ...{ limit: { ...integer(0), maximum: targetsMax }, jobsOffset: integer(0), at: integer(0) },
        },
        ['action', 'commandPrefix', 'limit'],
      ),
    ),
    request: (partition, { filter, ids, cutOff, ...query }, asker) => ({
      params: { partition },
      query: { ...query, ...filter, ...cutOff, ids: ids && JSON.stringify(ids) },
      asker,
    }),
    answer: (queries, { partition, ...given }: OfPartition & GivenTargets, asker) =>
      queries.targets(partition, targetQueryOf(given), asker()),
  },
  change: {
    path: '/:partition/changes',
    audit: 'CHANGE_JOBS',
    schema: schemaOf(
      ofPartition,
      closed(
        {
          ...{ action: { enum: bulkActions }, commandId: text, after: text, isRepeat: flag },
          ...{ status: text, tag: text, handler: text, idPrefix: text, idContains: text },
          ...{ limit: { ...integer(1), maximum: changesMax }, jobsOffset: integer(0), at: integer(0) },
        },
        ['action', 'commandId', 'isRepeat', 'limit', 'jobsOffset', 'at'],
      ),
    ),
    request: (partition, { filter, cutOff, ...query }, asker) => ({
      params: { partition },
      query: { ...query, ...filter, ...cutOff },
      waitMs: changeWaitMs,
      asker,
    }),
    answer: (queries, given: OfPartition & GivenChange, asker) => {
      const { partition, action, commandId, after, isRepeat, limit, jobsOffset, at, ...filter } = given
      const place = { cutOff: { jobsOffset, at }, isRepeat, limit, ...(after !== undefined && { after }) }
      return queries.change(partition, { action, commandId, filter, ...place }, asker())
    },
  },
  announce: {
    path: '/:partition/announced',
    audit: 'CHANGE_JOBS',
    schema: schemaOf(
      ofPartition,
      closed(
        {
          ...{ action: { enum: bulkActions }, commandId: text, createdAt: integer(0), after: text, isOver: flag },
          ...{ status: text, tag: text, handler: text, idPrefix: text, idContains: text },
          ...{ waitMs: { ...integer(0), maximum: announceWaitMsMax }, jobsOffset: integer(0), at: integer(0) },
        },
        ['action', 'commandId', 'createdAt', 'isOver', 'waitMs'],
      ),
    ),
    request: (partition, { filter, cutOff, ...query }, asker) => ({
      params: { partition },
      query: { ...query, ...filter, ...cutOff },
      waitMs: query.waitMs,
      asker,
    }),
    answer: (queries, given: OfPartition & GivenAnnouncement, asker) => {
      const { partition, action, commandId, createdAt, after, isOver, waitMs, jobsOffset, at, ...filter } = given
      const place = {
        ...(jobsOffset !== undefined && at !== undefined && { cutOff: { jobsOffset, at } }),
        ...(after !== undefined && { after }),
      }
      return queries.announce(partition, { action, commandId, createdAt, filter, isOver, waitMs, ...place }, asker())
    },
  },
}

type GivenChange = Omit<ChangeQuery, 'filter' | 'cutOff'> & JobFilter & CutOff
type GivenAnnouncement = Omit<AnnounceQuery, 'filter' | 'cutOff'> & JobFilter & Partial<CutOff>
type GivenTargets = Omit<TargetQuery, 'filter' | 'ids' | 'cutOff'> & JobFilter & Partial<CutOff> & { ids?: string }

/** The query of `targets` as its caller has it; as a query of HTTP it is flat. */
function targetQueryOf({ ids, jobsOffset, at, action, commandPrefix, after, until, limit, countOnly, ...filter }: GivenTargets) {
  return {
    ...{ action, commandPrefix, limit, filter },
    ...(ids !== undefined && { ids: JSON.parse(ids) as string[] }),
    ...(jobsOffset !== undefined && at !== undefined && { cutOff: { jobsOffset, at } }),
    ...(after !== undefined && { after }),
    ...(until !== undefined && { until }),
    ...(countOnly !== undefined && { countOnly }),
  }
}

/** The calls of operations to owners in other processes (owner-calls.ts). */
import {
  type AnnounceQuery,
  announcedActions,
  bulkActions,
  type ChangeQuery,
  type CutOff,
  type JobFilter,
  type TargetQuery,
} from '../../ports/index.ts'
import { announceWaitMsMax, changesMax, changeWaitMs, closed, targetsMax } from '../schemas/index.ts'
import {
  endFields,
  type FlatPlace,
  filterFields,
  flag,
  integer,
  type OfPartition,
  type OwnerCall,
  ofPartition,
  placeFields,
  placeOf,
  schemaOf,
  text,
} from './call-parts.ts'

export const operationCalls: { [Name in 'targets' | 'change' | 'announce']: OwnerCall<Name> } = {
  targets: {
    path: '/:partition/targets',
    schema: schemaOf(
      ofPartition,
      closed(
        {
          ...{ action: text, commandPrefix: text, ids: text, until: text, countOnly: flag },
          ...{ ...filterFields, ...endFields, runStatus: text, dead: flag },
          ...{ ...placeFields, limit: { ...integer(0), maximum: targetsMax } },
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
          ...{ action: { enum: bulkActions }, commandId: text, isRepeat: flag },
          ...{ ...filterFields, ...placeFields, limit: { ...integer(1), maximum: changesMax } },
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
      const place = { ...placeOf({ after }), cutOff: { jobsOffset, at } }
      return queries.change(partition, { action, commandId, filter, isRepeat, limit, ...place }, asker())
    },
  },
  announce: {
    path: '/:partition/announced',
    audit: 'CHANGE_JOBS',
    schema: schemaOf(
      ofPartition,
      closed(
        {
          ...{ action: { enum: announcedActions }, commandId: text, createdAt: integer(0), listed: text, isOver: flag },
          ...{ ...filterFields, ...placeFields, waitMs: { ...integer(0), maximum: announceWaitMsMax } },
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
      const { partition, action, commandId, createdAt, after, listed, isOver, waitMs, jobsOffset, at, ...filter } = given
      const place = { ...placeOf({ after, jobsOffset, at }), ...(listed !== undefined && { listed }) }
      return queries.announce(partition, { action, commandId, createdAt, filter, isOver, waitMs, ...place }, asker())
    },
  },
}

type GivenChange = Omit<ChangeQuery, 'filter' | 'cutOff'> & JobFilter & CutOff
type GivenAnnouncement = Omit<AnnounceQuery, 'filter' | 'cutOff' | 'after'> & JobFilter & FlatPlace
type GivenTargets = Omit<TargetQuery, 'filter' | 'ids' | 'cutOff' | 'after'> & JobFilter & FlatPlace & { ids?: string }

/** The query of `targets` as its caller has it; as a query of HTTP it is flat. */
function targetQueryOf({ ids, jobsOffset, at, action, commandPrefix, after, until, limit, countOnly, ...filter }: GivenTargets) {
  return {
    ...{ action, commandPrefix, limit, filter, ...placeOf({ after, jobsOffset, at }) },
    ...(ids !== undefined && { ids: JSON.parse(ids) as string[] }),
    ...(until !== undefined && { until }),
    ...(countOnly !== undefined && { countOnly }),
  }
}

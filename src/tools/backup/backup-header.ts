/**
 * The header and the trailer of a backup, what is checked of them and of ids before a restore uses them, and the file that a backup writes
 * before it has its name.
 */

import { stat } from 'node:fs/promises'
import { settingsSchema } from '../../../schemas/index.ts'
import { isPoolName, validateJobId } from '../../../streams/definitions/index.ts'
import { DuelogError } from '../../ground/errors/index.ts'

/** An offset of a partition. */
export interface Place {
  topic: string
  partition: number
  offset: number
}

export interface BackupHeader {
  /** Epoch ms, by the clock of the process that made the backup. */
  createdAt: number
  /** Version of Duelog. */
  duelog: string
  clusterId: string
  prefix: string
  partitions: number
  pools: string[]
  /** Version of the time zone rules by which all next times were computed. Empty: unknown, or several. */
  zoneRules: string
  /** Whether schedulers ran while it was made. */
  live: boolean
  /** Ends of the topics of definitions, commands and states: later records are not in the file. */
  ends: Place[]
  /** Where the intake continues in the topics of other schedulers. */
  intake: Place[]
  /** Schemas of the bodies, by name. */
  schemas: Record<string, string>
}

/** Kafka itself allows more; DUELOG_PARTITIONS does not. */
const partitionsMax = settingsSchema.properties.DUELOG_PARTITIONS.maximum
/** Farthest time that a Date can show. */
const timeMax = 8.64e15

const isText = (value: unknown): boolean => typeof value === 'string'
const isCount = (value: unknown): boolean => Number.isSafeInteger(value) && Number(value) >= 0

const arePlaces = (value: unknown): boolean =>
  Array.isArray(value) && value.every((place) => isText(place?.topic) && isCount(place?.partition) && isCount(place?.offset))

const rules: Record<keyof BackupHeader, (value: unknown) => boolean> = {
  createdAt: (value) => isCount(value) && Number(value) <= timeMax,
  ...{ duelog: isText, clusterId: isText, prefix: isText, zoneRules: isText },
  partitions: (value) => isCount(value) && Number(value) >= 1 && Number(value) <= partitionsMax,
  pools: (value) => Array.isArray(value) && value.every((pool) => isText(pool) && isPoolName(pool)),
  live: (value) => typeof value === 'boolean',
  ends: arePlaces,
  intake: arePlaces,
  schemas: (value) => typeof value === 'object' && value !== null && Object.values(value).every(isText),
}

export function headerProblem(header: Record<string, unknown>): string | undefined {
  const wrong = Object.entries(rules).find(([name, holds]) => !holds(header[name]))
  return wrong === undefined ? undefined : `its header has no valid ${wrong[0]}`
}

export function countsProblem(counts: unknown): string | undefined {
  const isSound = typeof counts === 'object' && counts !== null && Object.values(counts).every(isCount)
  return isSound && 'jobs' in counts ? undefined : 'its numbers are not valid'
}

export function idProblem(id: unknown): string | undefined {
  const problem = typeof id === 'string' ? validateJobId(Buffer.from(id)) : 'it is no text'
  return problem === undefined ? undefined : `the id of a job is not valid: ${problem}`
}

export const partOf = (path: string): string => `${path}.part`

/** Throws DuelogError `bad-usage` if there is such a file, or one that another backup writes, or that a killed one has left. */
export async function checkFree(path: string): Promise<void> {
  if (await stat(path).catch(() => undefined))
    throw new DuelogError('bad-usage', `The file ${path} exists; name another, or remove it.`)
  if (await stat(partOf(path)).catch(() => undefined))
    throw new DuelogError(
      'bad-usage',
      `The file ${partOf(path)} exists: another backup writes it, or was killed. If none runs, remove it and the folders .duelog-backup-* beside it.`,
    )
}

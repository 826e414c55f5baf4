/**
 * Finds out which versions at the subjects of our topics are Duelog's and which are foreign, and removes the foreign ones (ADR
 * 0061). Each version of ours only adds to the one before. So a version that can read our records and has all our fields is a
 * later release. A version that ours can read is an earlier release if it comes before ours. All others are foreign.
 */

import type { Type } from 'avsc'
import { schemaTexts } from '../../../../schemas/index.ts'
import type { TopicPlan } from '../../../../streams/topics/index.ts'
import { DuelogError, messageOf } from '../../../ground/errors/index.ts'
import { avroType, fingerprintOf } from './avro-type.ts'
import { subjectOf } from './codecs.ts'
import { Registry, type RegistryOptions } from './registry.ts'
import { registryRemedy, Subjects, type SubjectVersion } from './subjects.ts'

export interface VersionStanding {
  version: number
  id: number
  standing: 'ours' | 'earlier' | 'later' | 'foreign'
  /** The problem of a foreign schema. */
  reason: string | undefined
}

export interface SubjectStanding {
  subject: string
  versions: VersionStanding[]
  /** Whether the schema of this release is registered there. */
  isRegistered: boolean
}

/**
 * The versions at the subject of each topic, as this release classifies them. Rejects with `registry-unavailable` or
 * `bad-config`.
 */
export async function subjectStandings(options: RegistryOptions, plans: readonly TopicPlan[]): Promise<SubjectStanding[]> {
  const subjects = new Subjects(options)
  const standings: SubjectStanding[] = []
  for (const { topic, schema } of plans) {
    const subject = subjectOf(topic)
    const found = await asking(options, `Reading ${subject}`, () => subjects.versions(subject))
    standings.push(standingOf(subject, found, schemaTexts[schema]))
  }
  return standings
}

/**
 * Removes foreign versions from their subjects and registers ours, so that it is the latest. Records written with a removed
 * version stay readable. Resolves with the versions found before. Rejects with `foreign-data` if a subject still refuses ours.
 */
export async function repairSubjects(options: RegistryOptions, plans: readonly TopicPlan[]): Promise<SubjectStanding[]> {
  const refused: string[] = []
  const subjects = new Subjects(options)
  const registry = new Registry({ ...options, onRefused: (sentence) => refused.push(sentence) })
  const before = await subjectStandings(options, plans)
  for (const [index, { topic, schema }] of plans.entries()) {
    const subject = subjectOf(topic)
    for (const { version, standing } of before[index]?.versions ?? [])
      if (standing === 'foreign')
        await asking(options, `Taking version ${version} out of ${subject}`, () => subjects.remove(subject, version))
    await registry.register(subject, schemaTexts[schema])
  }
  if (refused[0] !== undefined) throw new DuelogError('foreign-data', refused[0])
  return before
}

export function standingOf(subject: string, found: readonly SubjectVersion[], ours: string): SubjectStanding {
  const type = avroType(JSON.parse(ours))
  const parsed = found.map((version) => ({ ...version, type: typeOf(version.schema) }))
  const print = fingerprintOf(type)
  const first = parsed.findIndex((version) => version.type !== undefined && fingerprintOf(version.type) === print)
  const fields = fieldsOf(JSON.parse(ours))
  const versions = parsed.map((version, index): VersionStanding => {
    const { version: number, id } = version
    const isBefore = first < 0 || index < first
    const standing = kindOf(type, version.type, missing(fields, version.schema), isBefore)
    return { version: number, id, ...standing }
  })
  return { subject, versions, isRegistered: first >= 0 }
}

function kindOf(
  ours: Type,
  type: Type | undefined,
  missing: readonly string[],
  isBefore: boolean,
): Pick<VersionStanding, 'standing' | 'reason'> {
  if (type === undefined) return { standing: 'foreign', reason: 'it is no Avro schema' }
  if (fingerprintOf(type) === fingerprintOf(ours)) return { standing: 'ours', reason: undefined }
  if (missing.length === 0 && canRead(type, ours)) return { standing: 'later', reason: undefined }
  if (isBefore && canRead(ours, type)) return { standing: 'earlier', reason: undefined }
  const shown = missing.slice(0, 5).join(', ')
  const more = missing.length > 5 ? ` and ${missing.length - 5} more` : ''
  return { standing: 'foreign', reason: missing.length > 0 ? `it lacks ${shown}${more}` : 'its types are not those of ours' }
}

function typeOf(schema: string): Type | undefined {
  try {
    return avroType(JSON.parse(schema))
  } catch {
    return undefined
  }
}

function canRead(reader: Type, writer: Type): boolean {
  try {
    reader.createResolver(writer)
    return true
  } catch {
    return false
  }
}

interface Named {
  name?: string
  type?: unknown
  items?: unknown
  values?: unknown
  fields?: Named[]
}

/** Names of all fields, each prefixed by the name of its record. */
function fieldsOf(schema: unknown): Set<string> {
  const names = new Set<string>()
  const walk = (node: unknown): void => {
    if (Array.isArray(node)) for (const branch of node) walk(branch)
    if (typeof node !== 'object' || node === null || Array.isArray(node)) return
    const { name, fields, type, items, values } = node as Named
    for (const field of fields ?? []) {
      names.add(`${name?.split('.').at(-1)}.${field.name}`)
      walk(field.type)
    }
    for (const inner of [type, items, values]) walk(inner)
  }
  walk(schema)
  return names
}

const recordOf = (field: string): string => field.slice(0, field.indexOf('.'))

function missing(fields: ReadonlySet<string>, schema: string): string[] {
  try {
    const theirs = fieldsOf(JSON.parse(schema))
    const records = new Set([...theirs].map(recordOf))
    const lacking = [...fields].filter((field) => !theirs.has(field))
    // The fields of a missing record add nothing: the field that held it is already missing.
    const telling = lacking.filter((field) => records.has(recordOf(field)))
    return telling.length > 0 ? telling : lacking
  } catch {
    return []
  }
}

async function asking<Value>({ registryUrl }: RegistryOptions, doing: string, ask: () => Promise<Value>): Promise<Value> {
  try {
    return await ask()
  } catch (thrown) {
    const status = (thrown as { status?: number }).status
    const isForbidden = status === 401 || status === 403 || status === 405
    throw new DuelogError(
      isForbidden ? 'bad-config' : 'registry-unavailable',
      `${doing} at ${registryUrl} failed: ${messageOf(thrown)}. ` +
        (isForbidden ? 'Check that these credentials may do so, and that the subject is not read-only.' : registryRemedy(thrown)),
      { cause: thrown },
    )
  }
}

/** The rules between fields of a definition, those of its target, and those for limits that jobs share. They run only if every field is within its own limits. */
import { type Backoff, type HttpTarget, type JobDefinition, jobDefinitionSchema } from '../../schemas/index.ts'
import { isByOwner, kindsByWorkers, targetKinds } from '../targets/index.ts'
import { contradiction, controls, oneOf, type Problem, quoted } from '../text/index.ts'
import { hasTag } from '../topics/index.ts'
import { addScheduleProblems } from './schedule-rules.ts'

/** The rules between fields of a definition, and those for limits that jobs share. They run only if every field is within its own limits. */
export function addRuleProblems(definition: JobDefinition, problems: Problem[]): void {
  addScheduleProblems(definition, problems)
  addTargetProblems(definition, problems)
  addLimitProblems(definition, problems)
  addBackoffProblems(definition, problems)
  addControlProblems(definition, problems)
}

/** Lists and logs show these texts. A control character in one could steer the terminal that shows it. */
function addControlProblems({ tags, onSuccess, onFailure, contentType }: JobDefinition, problems: Problem[]): void {
  const limit = 'text without control characters'
  const check = (text: string, name: string, index?: number): void => {
    if (!controls.test(text)) return
    const field = index === undefined ? name : `${name}[${index}]`
    problems.push(contradiction(field, text, limit, `${field} ${quoted(text)} has a control character; allowed: ${limit}.`))
  }
  for (let index = 0; index < tags.length; index++) check(tags[index] ?? '', 'tags', index)
  for (let index = 0; index < onSuccess.length; index++) check(onSuccess[index] ?? '', 'onSuccess', index)
  for (let index = 0; index < onFailure.length; index++) check(onFailure[index] ?? '', 'onFailure', index)
  if (contentType !== null) check(contentType, 'contentType')
}

function addBackoffProblems({ retry: { backoff } }: JobDefinition, problems: Problem[]): void {
  const given: string[] = []
  for (const field of Object.keys(backoff)) {
    const value = backoff[field as keyof Backoff]
    if (Array.isArray(value) ? value.length > 0 : value !== null) given.push(field)
  }
  if (given.length === 1) return
  const found = given.length === 0 ? 'none of them is set' : `${given.join(' and ')} are set`
  problems.push(oneOf('retry.backoff', Object.keys(backoff), given, found))
}

/** Longest key of a limit, in bytes of UTF-8. */
export const limitKeyBytesMax = 256

export function addLimitProblems(definition: JobDefinition, problems: Problem[]): void {
  const { concurrencyKey, concurrencyLimit, rateLimit, target } = definition
  if (concurrencyKey !== null) addKeyProblems('concurrencyKey', concurrencyKey, problems)
  if (rateLimit !== null) addKeyProblems('rateLimit.key', rateLimit.key, problems)
  if (concurrencyKey === null && concurrencyLimit !== 1) {
    const limit = 'only with concurrencyKey'
    const message = `concurrencyLimit is ${concurrencyLimit}, but it is allowed ${limit}; give the key or leave the limit out.`
    problems.push(contradiction('concurrencyLimit', concurrencyLimit, limit, message))
  }
  if (concurrencyKey !== null && isByOwner(target)) {
    const limit = onlyWithWorkers
    const message = `concurrencyKey is ${quoted(concurrencyKey)}, but it is allowed ${limit}: a record in a topic takes no time; rateLimit works with every target.`
    problems.push(contradiction('concurrencyKey', concurrencyKey, limit, message))
  }
}

/**
 * Warnings about limits that this job shares with others, as sentences: a limit counts the jobs of one partition, and ids without a tag
 * are spread over all of them.
 */
export function limitWarnings(id: string, { concurrencyKey, rateLimit }: JobDefinition, partitions: number): string[] {
  if (partitions === 1 || hasTag(id)) return []
  const keys = [
    ...(concurrencyKey === null ? [] : [['concurrencyKey', concurrencyKey] as const]),
    ...(rateLimit === null ? [] : [['rateLimit.key', rateLimit.key] as const]),
  ]
  return keys.map(([field, key]) => {
    const example = JSON.stringify(`{${key}}${id}`)
    return `The limit of ${field} ${quoted(key)} counts the jobs of each of the ${partitions} partitions separately. If other jobs have this key, give their ids one tag in braces, such as ${example}: then they are in one partition and share the limit exactly.`
  })
}

function addKeyProblems(field: string, key: string, problems: Problem[]): void {
  const limit = `1 to ${limitKeyBytesMax} bytes of UTF-8 without control characters`
  const bytes = Buffer.byteLength(key)
  if (bytes <= limitKeyBytesMax && key.isWellFormed() && !controls.test(key)) return
  const found =
    bytes > limitKeyBytesMax ? `has ${bytes} bytes` : key.isWellFormed() ? 'has a control character' : 'is not valid UTF-8'
  problems.push(contradiction(field, key, limit, `${field} ${quoted(key)} ${found}; allowed: ${limit}.`))
}

/** The rules between the fields of a target, and between the target and the rest of the definition. */

const kinds = targetKinds.map(([name]) => name)
/** Of a field that says something about workers. */
export const onlyWithWorkers = `only with ${kindsByWorkers.map((name) => `target.${name}`).join(' and ')}`
const headerName = /^[A-Za-z0-9!#$%&'*+.^_`|~-]{1,128}$/
const printable = /^[\t\x20-\x7e\x80-\xff]*$/
/** Headers that the handler http or the connection itself writes. */
const reserved =
  /^(?:(?:content-length|transfer-encoding|connection|keep-alive|upgrade|te|trailer|expect|host|idempotency-key)$|webhook-|duelog-)/i

interface NameField {
  name: string
  maxLength: number
  pattern: string
}
const targetField = jobDefinitionSchema.fields.find(({ name }) => name === 'target')
const targetRecord = targetField?.type as unknown as { fields: readonly NameField[] } | undefined
const handlerField = targetRecord?.fields.find(({ name }) => name === 'handler')
const poolField = targetRecord?.fields.find(({ name }) => name === 'pool')

export const poolNameLimit = `small letters, digits, "_" and "-", beginning with a letter or digit, at most ${poolField?.maxLength}, such as default`

/** Whether a job can name a pool so. */
export const isPoolName = (name: string): boolean =>
  poolField === undefined || (name.length <= poolField.maxLength && new RegExp(poolField.pattern).test(name))

/** Why no job can name a handler so, as a sentence; undefined if one can. */
export function handlerNameProblem(name: string): string | undefined {
  if (handlerField === undefined || (name.length <= handlerField.maxLength && new RegExp(handlerField.pattern).test(name)))
    return undefined
  return `no job can name the handler ${quoted(name)}; allowed: letters, digits, ".", "_" and "-", beginning with a letter or digit, at most ${handlerField.maxLength}`
}

export function addTargetProblems({ target, payload, headers }: JobDefinition, problems: Problem[]): void {
  const given = kinds.filter((kind) => target[kind] !== null)
  if (given.length !== 1) {
    const limit = `exactly one of ${kinds.join(', ')}`
    const found = given.length === 0 ? 'none of them is set' : `${given.join(' and ')} are set`
    problems.push(contradiction('target', given.join(', '), limit, `target must have ${limit}; ${found}.`))
    return
  }
  if (isByOwner(target) && target.pool !== 'default') {
    const message = `target.pool is ${quoted(target.pool)}, but it is allowed ${onlyWithWorkers}; leave it out.`
    problems.push(contradiction('target.pool', target.pool, onlyWithWorkers, message))
  }
  if (target.topic !== null && /^\.{1,2}$/.test(target.topic.name)) {
    const limit = 'names of topics, which . and .. are not'
    const message = `target.topic.name is ${quoted(target.topic.name)}; allowed: ${limit}.`
    problems.push(contradiction('target.topic.name', target.topic.name, limit, message))
  }
  if (target.http === null) return
  addHttpProblems(target.http, payload !== null, problems)
  // The request also carries the job's own headers, without those that Duelog writes itself.
  for (const [name, value] of Object.entries(headers)) {
    if (headerName.test(name) && printable.test(Buffer.from(value).toString('latin1'))) continue
    const limit = 'with target.http names that are tokens of HTTP, with values of printable Latin-1'
    const field = `headers[${quoted(name)}]`
    problems.push(contradiction(field, undefined, limit, `${field} cannot be sent; allowed: ${limit}.`))
  }
}

function addHttpProblems({ url, method, headers }: HttpTarget, hasPayload: boolean, problems: Problem[]): void {
  const parsed = URL.canParse(url) ? new URL(url) : undefined
  if (parsed === undefined || parsed.username !== '' || parsed.password !== '') {
    const limit = 'absolute http and https URLs without user and password'
    // The message does not repeat the URL, because it may hold a password.
    const message = `target.http.url does not have the allowed form: ${limit}.`
    problems.push(contradiction('target.http.url', undefined, limit, message))
  }
  if (method === 'GET' && hasPayload) {
    const limit = 'methods other than GET with a payload'
    problems.push(contradiction('target.http.method', method, limit, `target.http.method is GET; allowed: ${limit}.`))
  }
  for (const [name, value] of Object.entries(headers)) {
    const limit = 'header names that are tokens of HTTP and not written by Duelog itself, with values of printable Latin-1'
    if (headerName.test(name) && !reserved.test(name) && printable.test(value)) continue
    const field = `target.http.headers[${quoted(name)}]`
    problems.push(contradiction(field, undefined, limit, `${field} cannot be sent; allowed: ${limit}.`))
  }
}

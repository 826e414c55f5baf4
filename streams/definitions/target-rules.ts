/** The rules between the fields of a target, and between the target and the rest of the definition. */
import { type HttpTarget, type JobDefinition, jobDefinitionSchema } from '../../schemas/index.ts'
import { contradiction, type Problem, quoted } from '../text/index.ts'

const kinds = ['handler', 'topic', 'http'] as const
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
  if (target.topic !== null && target.pool !== 'default') {
    const limit = 'only with target.handler and target.http'
    const message = `target.pool is ${quoted(target.pool)}, but it is allowed ${limit}; leave it out.`
    problems.push(contradiction('target.pool', target.pool, limit, message))
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

/**
 * The table of the kinds of targets: who does the work, and how the command line, the dashboard and messages name it. The fields and limits
 * of a kind are in schemas/job-definition.avsc, the rules between its fields in streams/definitions/cross-field-rules.ts. Browsers read this file
 * too, so it knows no type of a record.
 */

interface TargetKind<Value> {
  /** The handler of the worker that does the work. Null: the owner writes a record itself when the run is due, and no worker takes part. */
  handler: ((value: Value) => string) | null
  /** What runs, in one line. */
  words: (value: Value) => string
  /** How the table of the targets' form calls it, with the value that it begins with. */
  title: string
  example: Partial<Value>
  /** Fields that the form shows, by their path in the target. Suggested: names that are known. */
  fields: readonly { path: string; label: string; isSuggested?: boolean }[]
  /** The flag of `duelog jobs put`, and the value that it gives. */
  flag: { option: string; description: string; value: (text: string) => Value }
}

const kindOf = <Value>(kind: TargetKind<Value>): TargetKind<Value> => kind

/** The built-in handler that makes the requests of http targets. */
export const httpHandlerName = 'http'

const rows = {
  handler: kindOf<string>({
    handler: (name) => name,
    words: (name) => name,
    title: 'Handler of a worker',
    example: 'log',
    fields: [{ path: 'handler', label: 'Handler', isSuggested: true }],
    flag: { option: '--handler <name>', description: 'the handler of a worker that runs it', value: (name) => name },
  }),
  topic: kindOf<{ name: string }>({
    handler: null,
    words: ({ name }) => `topic ${name}`,
    title: 'Kafka topic',
    example: { name: '' },
    fields: [{ path: 'topic.name', label: 'Topic' }],
    flag: { option: '--topic <name>', description: 'the topic that gets the payload', value: (name) => ({ name }) },
  }),
  http: kindOf<{ url: string; method?: string | undefined }>({
    handler: () => httpHandlerName,
    words: ({ url, method }) => `${method ?? 'POST'} ${url}`,
    title: 'HTTP request',
    example: { url: 'https://' },
    fields: [
      { path: 'http.url', label: 'URL' },
      { path: 'http.method', label: 'Method' },
    ],
    flag: {
      option: '--http-url <url>',
      description: 'the address that a worker sends the payload to',
      value: (url) => ({ url }),
    },
  }),
}

type TargetKindName = keyof typeof rows
type ValueOf<Kind> = Kind extends TargetKind<infer Value> ? Value : never

/** The kinds by the name of their field, in the order in which messages name them. */
export const targetKinds = Object.entries(rows) as [TargetKindName, TargetKind<unknown>][]
/** Names of the kinds that workers do. */
export const kindsByWorkers = targetKinds.filter(([, { handler }]) => handler !== null).map(([name]) => name)

/** A target as a definition or an answer of the API has it. */
export type GivenTarget = { [Kind in TargetKindName]?: ValueOf<(typeof rows)[Kind]> | null | undefined }

/** Its kind and the value of that; undefined without one. */
function givenKind(target: GivenTarget): { kind: TargetKind<unknown>; value: unknown } | undefined {
  for (const [name, kind] of targetKinds) if (target[name] != null) return { kind, value: target[name] }
  return undefined
}

/** What the job runs, in one line. */
export function targetWords(target: GivenTarget): string {
  const given = givenKind(target)
  return given?.kind.words(given.value) ?? ''
}

/** Whether the owner does the work itself: without a worker, when the run is due and not before, and the run ends with it. */
export const isByOwner = (target: GivenTarget): boolean => givenKind(target)?.kind.handler === null

/** The handler of the worker that does the work; null without one. */
export function handlerOf(target: GivenTarget): string | null {
  const given = givenKind(target)
  return given?.kind.handler?.(given.value) ?? null
}

/** The pool of its workers; null without them. */
export const poolOf = (target: GivenTarget & { pool: string }): string | null => (isByOwner(target) ? null : target.pool)

/** The target of an Execution, in the words of a definition: what a run does in the end. */
export function targetOf(execution: { handler: string; pool: string; topicTarget: { name: string } | null }): object {
  const { handler, pool, topicTarget } = execution
  if (topicTarget !== null) return { topic: { name: topicTarget.name } }
  const fields: Record<string, unknown> = { ...execution }
  const given = kindsByWorkers.map((name) => [name, fields[`${name}Target`]] as const).filter(([, value]) => value != null)
  return { handler, pool, ...Object.fromEntries(given) }
}

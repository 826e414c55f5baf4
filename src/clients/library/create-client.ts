/** Joins the client to a real system: to its HTTP API, to its cluster, or to both. */
import { withoutEnd } from '../../../streams/text/index.ts'
import { DuelogError, requireKnown } from '../../ground/errors/index.ts'
import { hasUser } from '../../ground/network/index.ts'
import { isPayloadSchema, type PayloadSchema } from '../../ground/records/index.ts'
import { type ClusterOptions, clusterOf, clusterOptionNames } from '../../log/cluster/index.ts'
import {
  type AnyPayloads,
  type Client,
  createHttpClient,
  createKafkaClient,
  type JobRecords,
  type KafkaClient,
  PayloadChecker,
} from '../client/index.ts'
import { requireSound } from './option-checks.ts'

export interface HttpOptions {
  /** Address of the HTTP API, such as http://127.0.0.1:8080. With it, the client does all that the API does. */
  url: string
  /** Bearer token for the API. Default: none. */
  token?: string | undefined
  /** PEM text: authorities that sign the certificate of an https address. Default: those that Node knows. */
  ca?: string | undefined
}

/** Of every client. */
export interface PayloadOptions {
  /**
   * Schemas of payloads by handler, of zod, valibot, arktype or another library of Standard Schema: a job whose payload does not match is
   * refused before it leaves the process. Default: none.
   */
  schemas?: Readonly<Record<string, PayloadSchema>> | undefined
}

const httpOptionNames = { url: true, token: true, ca: true } as const satisfies Record<keyof HttpOptions, true>

/**
 * A client that connects at its first use. `url` alone: everything goes over HTTP. `brokers` alone: definitions go to Kafka, and nothing
 * else is possible. Both: definitions go to Kafka, except for writes with a condition or a wait, and everything else over HTTP.
 * With `Payloads`, payloads by handler, the compiler checks each job's payload; with `Results` it knows what `call` returns. Throws DuelogError `bad-config` for a broker list that is
 * empty, for a `url` that is none, and for an option that is not known.
 */
export function createClient<Payloads extends object = AnyPayloads, Results extends object = AnyPayloads>(
  options: HttpOptions & ClusterOptions & PayloadOptions,
): Client<Payloads, Results> & JobRecords<Payloads>
export function createClient<Payloads extends object = AnyPayloads, Results extends object = AnyPayloads>(
  options: HttpOptions & PayloadOptions,
): Client<Payloads, Results>
export function createClient<Payloads extends object = AnyPayloads>(
  options: ClusterOptions & PayloadOptions,
): KafkaClient<Payloads>
// For ReturnType<typeof createClient>, which takes the last one.
export function createClient(options: HttpOptions & PayloadOptions): Client
export function createClient<Payloads extends object>(
  options: (HttpOptions | ClusterOptions | (HttpOptions & ClusterOptions)) & PayloadOptions,
): Client<Payloads> | KafkaClient<Payloads> {
  requireKnown('createClient', options, { ...httpOptionNames, ...clusterOptionNames, schemas: true })
  requireSound('createClient', options)
  const checker = checkerOf(options.schemas)
  if (!('url' in options) || options.url === undefined) {
    if ((options as { brokers?: unknown }).brokers === undefined)
      throw new DuelogError('bad-config', 'createClient needs url, the address of the HTTP API, or brokers, or both')
    return withoutHttp(kafkaClientOf<Payloads>(options as ClusterOptions, checker))
  }
  const { url, token, ca, schemas: _, ...cluster } = options as HttpOptions & Partial<ClusterOptions> & PayloadOptions
  const kafka = cluster.brokers === undefined ? undefined : kafkaClientOf<Payloads>(cluster as ClusterOptions, checker)
  const address = { url: checkedUrl(url), token, ca, givenBy: 'the option url of createClient' }
  return createHttpClient<Payloads>(address, kafka, checker)
}

function kafkaClientOf<Payloads extends object>(
  options: ClusterOptions,
  checker: PayloadChecker | undefined,
): KafkaClient<Payloads> {
  const { log, names, openCodecs } = clusterOf(options)
  return createKafkaClient<Payloads>(async () => {
    const [{ definition }, partitions] = await Promise.all([openCodecs(['default']), partitionsOf(names.jobs)])
    return { writer: await log.writer(), definition, topic: names.jobs, partitions, checker }
  })

  async function partitionsOf(topic: string): Promise<number> {
    const admin = await log.admin()
    try {
      return (await admin.offsets(topic)).length
    } finally {
      await admin.close()
    }
  }
}

/** Programs without a compiler get a sentence in place of "is not a function". */
function withoutHttp<Payloads extends object>(client: KafkaClient<Payloads>): KafkaClient<Payloads> {
  const methods = client as unknown as Record<string, unknown>
  for (const name of Object.keys(createHttpClient({ url: '', token: undefined, givenBy: '' })))
    methods[name] ??= () => {
      throw new DuelogError('bad-config', `client.${name} needs the HTTP API; give createClient the option url`)
    }
  return client
}

/** Throws `bad-config`. */
function checkerOf(schemas: Readonly<Record<string, PayloadSchema>> | undefined): PayloadChecker | undefined {
  if (schemas === undefined) return undefined
  for (const [handler, schema] of Object.entries(schemas)) {
    if (!isPayloadSchema(schema))
      throw new DuelogError('bad-config', `the schema of handler "${handler}" in createClient does not follow Standard Schema`)
  }
  return new PayloadChecker(schemas)
}

function checkedUrl(url: unknown): string {
  const parsed = typeof url === 'string' && URL.canParse(url) ? new URL(url) : null
  if (parsed === null || !/^https?:$/.test(parsed.protocol) || parsed.search !== '' || parsed.hash !== '') {
    // A user or a password would be shown.
    const shown = typeof url === 'string' && hasUser(url) ? 'the given text' : JSON.stringify(url)
    throw new DuelogError('bad-config', `url of createClient is ${shown}; give an address such as http://127.0.0.1:8080`)
  }
  if (parsed.username !== '' || parsed.password !== '')
    throw new DuelogError('bad-config', 'url of createClient has a user or a password; put a token into the option token')
  return `${parsed.origin}${withoutEnd(parsed.pathname, '/')}`
}

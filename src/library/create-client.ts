/** Joins the client to a real cluster. */
import { type AnyPayloads, type Client, createJobClient } from '../client/index.ts'
import { type ClusterOptions, clusterOf, clusterOptionNames } from '../cluster/index.ts'
import { requireKnown } from './known-options.ts'

/**
 * A client that connects at its first use. With `Payloads`, payloads by handler, the compiler checks each job's payload. Throws DuelogError
 * `bad-config` for a broker list that is empty, and for an option that is not known.
 */
export function createClient<Payloads extends object = AnyPayloads>(options: ClusterOptions): Client<Payloads>
// For ReturnType<typeof createClient>, which takes the last one.
export function createClient(options: ClusterOptions): Client
export function createClient<Payloads extends object>(options: ClusterOptions): Client<Payloads> {
  requireKnown('createClient', options, clusterOptionNames)
  const { log, names, openCodecs } = clusterOf(options)
  return createJobClient<Payloads>(async () => {
    const { definition } = await openCodecs(['default'])
    return { writer: await log.writer(), definition, topic: names.jobs }
  })
}

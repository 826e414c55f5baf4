/** The client library of registries, with our credentials and the certificates of now. */
import { SchemaRegistry, SchemaType } from '@kafkajs/confluent-schema-registry'
import { withoutEnd } from '../../../../streams/text/index.ts'
import { agentFrom } from '../../../ground/network/index.ts'
import { certificatesFrom } from '../../../ground/process/index.ts'
import { guardedTypes } from './avro-type.ts'
import { authorizationOf, type RegistryAddress } from './subjects.ts'

/** The client library takes an agent once, so another client takes the place of the one before when the certificates are others. */
export function clientFrom(options: RegistryAddress): () => SchemaRegistry {
  const host = withoutEnd(options.registryUrl, '/')
  const agentNow = agentFrom(certificatesFrom(options.ssl))
  let used: { agent: ReturnType<typeof agentNow>; client: SchemaRegistry } | undefined
  return () => {
    const agent = agentNow()
    if (used !== undefined && used.agent === agent) return used.client
    const client = new SchemaRegistry(
      { host, clientId: 'duelog', middlewares: [signing(options)], ...(agent && { agent }) },
      { [SchemaType.AVRO]: { typeHook: guardedTypes } },
    )
    used = { agent, client }
    return client
  }
}

type Middlewares = NonNullable<ConstructorParameters<typeof SchemaRegistry>[0]['middlewares']>

/** Adds the credentials to each request of the client library. */
const signing =
  ({ auth }: RegistryAddress): Middlewares[number] =>
  () => ({
    async prepareRequest(next) {
      const authorization = authorizationOf(auth)
      const request = await next()
      return authorization === undefined ? request : request.enhance({ headers: { authorization } })
    },
  })

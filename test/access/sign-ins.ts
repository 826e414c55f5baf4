/** How users sign in to the broker of these tests: the settings of a process, and the options of a client. */
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { Signed } from '../tools/certificates.ts'
import { password, type SecuredBroker } from './secured-broker.ts'
import type { TokenServer } from './token-server.ts'

/** What a user proves to be with at the token server. */
export const secretOf = (user: string): string => `hidden secret of ${user}`

export const sasl = (user: string) => ({ mechanism: 'plain', username: user, password }) as const

export const bearerFrom = (provider: TokenServer) => (user: string) =>
  ({
    mechanism: 'oauthbearer',
    tokenUrl: `${provider.url}/token`,
    clientId: user,
    clientSecret: secretOf(user),
    scope: 'kafka',
  }) as const

interface Parts {
  broker: SecuredBroker
  provider: TokenServer
  caFile: string
  certificates: ReadonlyMap<string, Signed>
  folder: string
}

/** The settings of a process that signs in by password, certificate or token. */
export const signInsOf = ({ broker, provider, caFile, certificates, folder }: Parts) => ({
  async password(user: string) {
    return {
      KAFKA_BROKERS: broker.brokers.join(','),
      KAFKA_SASL_MECHANISM: 'plain',
      KAFKA_SASL_USERNAME: user,
      KAFKA_SASL_PASSWORD: password,
    }
  },
  async certificate(user: string) {
    const { certFile, keyFile } = certificates.get(user) as Signed
    const files = { KAFKA_SSL_CA_FILE: caFile, KAFKA_SSL_CERT_FILE: certFile, KAFKA_SSL_KEY_FILE: keyFile }
    return { KAFKA_BROKERS: broker.tlsBrokers.join(','), KAFKA_SSL_ENABLED: 'true', ...files }
  },
  async token(user: string) {
    const file = join(folder, `${user}.secret`)
    await writeFile(file, `${secretOf(user)}\n`)
    return {
      KAFKA_BROKERS: broker.oauthBrokers.join(','),
      KAFKA_SASL_MECHANISM: 'oauthbearer',
      KAFKA_SASL_OAUTHBEARER_TOKEN_URL: `${provider.url}/token`,
      KAFKA_SASL_OAUTHBEARER_CLIENT_ID: user,
      KAFKA_SASL_OAUTHBEARER_CLIENT_SECRET_FILE: file,
    }
  },
})

/** Failures of TLS to the brokers, by the codes that Node gives them: which side refuses what, and which setting to check. */
import type { ErrorCode } from '../../errors/index.ts'
import { isUntrusted } from '../../network/index.ts'

export interface TlsFault {
  code: ErrorCode
  /** What happened, without a period. */
  reason: string
  todo: string
}

/** The fields that are read of an error of a connection. */
interface ConnectionFault {
  code?: unknown
  message?: string
  /** host:port. */
  broker?: string
}

/** Alerts about the certificate of the client. OpenSSL puts the version of TLS before them. */
const clientRefused = /ALERT_((?:BAD|NO|UNSUPPORTED)_CERTIFICATE|CERTIFICATE_[A-Z]+|UNKNOWN_CA|ACCESS_DENIED)$/
/** What a listener without TLS does with the first bytes of TLS: it answers something else, or ends the connection. */
const notTls = /^ERR_SSL_(WRONG_VERSION_NUMBER|PACKET_LENGTH_TOO_LONG)$/
const endedEarly = /before secure TLS connection was established/

/** Undefined: TLS was not the reason. */
export function tlsFaultOf(fault: ConnectionFault): TlsFault | undefined {
  const { broker } = fault
  const code = String(fault.code)
  const message = (fault.message ?? '').replace(/^Connection error: /, '')
  const place = broker === undefined ? 'a broker' : `the broker ${broker}`
  const alert = clientRefused.exec(code)?.[1]?.toLowerCase().replaceAll('_', ' ')
  if (alert !== undefined)
    return {
      code: 'bad-config',
      reason: `${place} refuses the client certificate, or wants one and got none (${alert})`,
      todo: 'Set KAFKA_SSL_CERT_FILE and KAFKA_SSL_KEY_FILE, or `cert` and `key` of `ssl`, to a certificate that is valid now and that an authority has signed that the brokers trust (their ssl.truststore.…).',
    }
  if (isUntrusted(fault))
    return {
      code: 'bad-config',
      reason: `no known authority has signed the certificate of ${place} (${code})`,
      todo: 'Set KAFKA_SSL_CA_FILE, or `ca` of `ssl`, to the authority that signed it.',
    }
  if (code === 'ERR_TLS_CERT_ALTNAME_INVALID')
    return {
      code: 'bad-config',
      reason: `the certificate of ${place} has other names (${message})`,
      todo: 'Use a name of the certificate in KAFKA_BROKERS and in advertised.listeners of the brokers, or add the name to the certificate.',
    }
  if (code === 'CERT_HAS_EXPIRED')
    return {
      code: 'broker-unavailable',
      reason: `the certificate of ${place}, or of its authority, has expired`,
      todo: 'Replace it; or set the clock of this machine, if that is wrong.',
    }
  if (notTls.test(code) || endedEarly.test(message))
    return {
      code: 'broker-unavailable',
      // The message of OpenSSL names lines of its source.
      reason: `${place} did not answer with TLS (${notTls.test(code) ? code : message})`,
      todo: 'Check that it runs, and that its port in KAFKA_BROKERS is a listener with TLS. For a listener without TLS leave out KAFKA_SSL_ENABLED, or `ssl`.',
    }
  return undefined
}

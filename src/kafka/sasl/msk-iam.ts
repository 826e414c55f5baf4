/** Tokens for AWS MSK by the signer of AWS, which is installed beside Duelog only where it is needed (ADR 0107). */
import { DuelogError, messageOf } from '../../errors/index.ts'
import type { IssuedToken } from './bearer-tokens.ts'

const signer = 'aws-msk-iam-sasl-signer-js'
/** Less than kafkajs waits for a sign-in. The metadata services of AWS may not answer at all. */
const tokenMsMax = 8_000

interface Signer {
  generateAuthToken(options: { region: string }): Promise<{ token: string; expiryTime: number }>
}

/** Rejects with DuelogError `bad-config` if the signer is not installed, else with `broker-unavailable`. */
export async function mskToken(region: string, from = signer): Promise<IssuedToken> {
  const { generateAuthToken } = await loaded(from)
  const late = Promise.withResolvers<never>()
  const timer = setTimeout(() => late.reject(new Error(`no credentials within ${tokenMsMax / 1_000} s`)), tokenMsMax)
  try {
    const { token, expiryTime } = await Promise.race([generateAuthToken({ region }), late.promise])
    return { value: token, livesMs: expiryTime - Date.now() }
  } catch (cause) {
    throw new DuelogError(
      'broker-unavailable',
      `No token for AWS MSK in ${region}: ${messageOf(cause)}. Check that this process has AWS credentials, for example AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or a role.`,
      { cause },
    )
  } finally {
    clearTimeout(timer)
  }
}

async function loaded(from: string): Promise<Signer> {
  try {
    return (await import(from)) as Signer
  } catch (cause) {
    if ((cause as { code?: string }).code !== 'ERR_MODULE_NOT_FOUND') throw cause
    throw new DuelogError(
      'bad-config',
      `KAFKA_SASL_MECHANISM aws-msk-iam needs the package ${from}. Install it beside Duelog: npm install ${from}`,
      {
        cause,
      },
    )
  }
}

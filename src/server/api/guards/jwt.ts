/**
 * JSON Web Tokens of an identity provider: signed by a key of its JWKS, issued by it for us, not expired, and with a role of
 * ours.
 */
import type { JWTPayload, JWTVerifyGetKey } from 'jose'
import { DuelogError, messageOf } from '../../../ground/errors/index.ts'
import { isReservedActor } from '../../../ground/process/index.ts'
import type { Role } from '../../peers/index.ts'
import { jwksTimeoutMs } from '../schemas/index.ts'

export interface JwtOptions {
  /** URL of the provider's keys, or the keys themselves in tests. */
  jwks: string | JWTVerifyGetKey
  issuer: string
  audience: string
  /** Claim with the roles; dots lead deeper. */
  rolesClaim: string
}

/** Signatures by a key that only the provider has. Shared keys and unsigned tokens are refused, whatever the token claims. */
const algorithms = ['RS256', 'RS384', 'RS512', 'PS256', 'PS384', 'PS512', 'ES256', 'ES384', 'ES512', 'EdDSA', 'Ed25519']
/** Maximum difference between the clocks of two machines. */
const clockToleranceSeconds = 5
const roles: readonly Role[] = ['admin', 'operator', 'viewer']

export interface Identity {
  actor: string
  role: Role
}

/** A token that the provider has signed and that is not accepted: why, as the second half of a sentence. */
export interface RefusedJwt {
  refused: string
}

/**
 * Undefined for a token that the provider has not signed: nothing is said about it. Rejects with `identity-unavailable` if no keys could
 * be loaded, and with `forbidden` for a subject that the provider accepts but that cannot be a name in records.
 */
export type JwtVerifier = (token: string) => Promise<Identity | RefusedJwt | undefined>

/** `taken`: names that records use for other callers, such as names of tokens. */
export function jwtVerifier(options: JwtOptions, taken: readonly string[] = []): JwtVerifier {
  const { jwks, issuer, audience, rolesClaim } = options
  let keys: JWTVerifyGetKey | undefined = typeof jwks === 'string' ? undefined : jwks
  return async (token) => {
    // Most processes have no provider, and need less memory without the library.
    const { createRemoteJWKSet, errors, jwtVerify } = await import('jose')
    try {
      keys ??= createRemoteJWKSet(new URL(jwks as string), { timeoutDuration: jwksTimeoutMs })
      const { payload } = await jwtVerify(token, keys, {
        ...{ issuer, audience, algorithms, clockTolerance: clockToleranceSeconds },
        requiredClaims: ['exp', 'sub'],
      })
      const role = roleOf(payload, rolesClaim)
      if (role === undefined) return { refused: `its claim ${rolesClaim} names none of ${roles.join(', ')}` }
      return { actor: actorOf(payload.sub, taken), role }
    } catch (error) {
      if (error instanceof DuelogError) throw error
      // Claims are checked after the signature.
      if (error instanceof errors.JWTExpired) return { refused: 'it has expired' }
      if (error instanceof errors.JWTClaimValidationFailed) return { refused: claimText(error.claim, error.reason) }
      if (isRefusal(error, errors)) return undefined
      throw new DuelogError('identity-unavailable', `The keys of DUELOG_JWT_JWKS_URL could not be loaded: ${messageOf(error)}.`, {
        cause: error,
      })
    }
  }
}

const claimTexts: Record<string, string> = {
  iss: 'its issuer (iss) is not that of DUELOG_JWT_ISSUER',
  aud: 'its audience (aud) does not have that of DUELOG_JWT_AUDIENCE',
  nbf: 'it is not valid yet (nbf)',
}

const claimText = (claim: string, reason: string): string =>
  reason === 'missing' ? `it has no claim ${claim}` : (claimTexts[claim] ?? `its claim ${claim} is not valid`)

/** Whether the token itself is wrong, and not the way to the keys. */
function isRefusal(error: unknown, errors: typeof import('jose').errors): boolean {
  if (!(error instanceof errors.JOSEError)) return error instanceof TypeError && !('cause' in error)
  return !(error instanceof errors.JWKSTimeout || error instanceof errors.JWKSInvalid || error.code === 'ERR_JOSE_GENERIC')
}

/**
 * The highest role that the claim names. It may be nested, as in realm_access.roles, and be a list or words with spaces
 * between.
 */
function roleOf(payload: JWTPayload, claim: string): Role | undefined {
  let value: unknown = payload
  for (const name of claim.split('.')) {
    if (typeof value !== 'object' || value === null || !Object.hasOwn(value, name)) return undefined
    value = (value as Record<string, unknown>)[name]
  }
  const named = typeof value === 'string' ? value.split(' ') : Array.isArray(value) ? value : []
  return roles.find((role) => named.includes(role))
}

const subjectCharsMax = 255

/** Subjects go into logs and records: they are short, on one line, unchanged, and never a reserved name. */
function actorOf(subject: unknown, taken: readonly string[]): string {
  if (
    typeof subject === 'string' &&
    subject !== '' &&
    subject.length <= subjectCharsMax &&
    subject.trim() === subject &&
    !/[\p{C}\p{Zl}\p{Zp}]/u.test(subject) &&
    !isReservedActor(subject) &&
    !taken.includes(subject)
  )
    return subject
  throw new DuelogError(
    'forbidden',
    `The subject (sub) of the JWT is not allowed. It must be plain text on one line with 1 to ${subjectCharsMax} characters, and not a name that records use for other callers, such as local or the name of a token. Change it at the identity provider.`,
  )
}

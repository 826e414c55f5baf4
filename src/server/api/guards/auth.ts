/**
 * Decides who may call what. With tokens: a bearer token gives a role. Without tokens: only requests from this machine are
 * served, and none that a web page of another origin could have sent, because a browser on this machine reaches loopback ports
 * too.
 */
import { createHash, timingSafeEqual } from 'node:crypto'
import type { FastifyRequest, onRequestAsyncHookHandler } from 'fastify'
import { DuelogError } from '../../../ground/errors/index.ts'
import { foreignBy, isLoopbackName } from '../../../ground/network/index.ts'
import { type ApiToken, peerTokens, type Role, rank } from '../../peers/index.ts'
import { type Identity, type JwtOptions, jwtVerifier } from './jwt.ts'
import type { SignIns } from './sign-ins.ts'

type Known = Identity & { digest: Buffer }
const digest = (token: string): Buffer => createHash('sha256').update(token).digest()

declare module 'fastify' {
  interface FastifyRequest {
    /** Role of the token; null without authentication. */
    role: Role | null
    /**
     * The caller for records: name or role of the token, subject of a JWT, `local` without authentication; null if the caller
     * is unknown.
     */
    actor: string | null
  }
}

export interface AuthenticationOptions {
  apiTokens?: readonly ApiToken[] | undefined
  jwt?: JwtOptions | undefined
  signIns: SignIns
}

/** A hook that throws `unauthorized` or `forbidden`, and otherwise sets role and actor of the request. */
export function authentication({ apiTokens = [], jwt, signIns }: AuthenticationOptions): onRequestAsyncHookHandler {
  const known = apiTokens.map(({ role, token, name }) => ({ role, actor: name ?? role, digest: digest(token) }))
  const peers = peerTokens(apiTokens).map((token): Known => ({ role: 'operator', actor: 'peer', digest: digest(token) }))
  const names = apiTokens.flatMap(({ name }) => name ?? [])
  const verify = jwt === undefined ? undefined : jwtVerifier(jwt, names)
  const refusals = new Refusals()
  const identityIn = async (token: string): Promise<Identity | undefined> => {
    const found = await verify?.(token)
    if (found === undefined || !('refused' in found)) return found
    refusals.keep(token, found.refused)
    return undefined
  }
  return async (request, reply) => {
    const { role: needed, internal } = request.routeOptions.config
    if (known.length === 0 && verify === undefined) {
      refuseForeignOrigin(request)
      if (internal) refuseOtherMachines(request)
      request.actor = 'local'
      return
    }
    if (needed === undefined) return
    const given = /^Bearer +(\S+) *$/i.exec(request.headers.authorization ?? '')?.[1]
    const judge = async (token: string): Promise<Identity | undefined> =>
      identityOf(token, internal ? [...known, ...peers] : known) ?? (await identityIn(token))
    const from = { address: request.ip, realm: internal ? 'internal' : 'public' }
    const found = given === undefined ? undefined : await signIns.judged({ ...from, token: given }, () => judge(given))
    if (found === undefined) {
      void reply.header('www-authenticate', 'Bearer realm="duelog"')
      throw new DuelogError(
        'unauthorized',
        `${refusals.textOf(given)}Send ${accepted(known.length > 0, verify !== undefined)} as Authorization: Bearer <token>.`,
      )
    }
    request.role = found.role
    request.actor = found.actor
    if (rank[found.role] < rank[needed]) {
      throw new DuelogError('forbidden', `The token's role is ${found.role}; this call needs ${needed}.`)
    }
  }
}

/** Refused tokens whose reasons are kept. */
const refusalsMax = 1_000

/** Why tokens were refused: a repeated one is refused without a check. */
class Refusals {
  readonly #reasons = new Map<string, string>()

  keep(token: string, reason: string): void {
    const [oldest] = this.#reasons.keys()
    if (this.#reasons.size >= refusalsMax && oldest !== undefined) this.#reasons.delete(oldest)
    this.#reasons.set(digest(token).toString('base64'), reason)
  }

  textOf(token: string | undefined): string {
    const reason = token === undefined ? undefined : this.#reasons.get(digest(token).toString('base64'))
    return reason === undefined ? '' : `The JWT is refused: ${reason}. `
  }
}

function accepted(tokens: boolean, jwt: boolean): string {
  return [tokens ? 'a token of DUELOG_API_TOKENS' : '', jwt ? 'a JWT of the identity provider with a role of Duelog' : '']
    .filter(Boolean)
    .join(' or ')
}

/** Compares digests of equal length with every known token, so that the time taken reveals nothing about any of them. */
function identityOf(given: string, known: readonly Known[]): Identity | undefined {
  const wanted = digest(given)
  let found: Identity | undefined
  for (const identity of known) {
    if (timingSafeEqual(identity.digest, wanted) && (found === undefined || rank[identity.role] > rank[found.role]))
      found = identity
  }
  return found
}

function refuseForeignOrigin({ headers, method }: FastifyRequest): void {
  const shown = foreignBy(headers, method)
  if (shown === 'host')
    throw new DuelogError(
      'forbidden',
      'Without API tokens only requests to a loopback address are served: use http://127.0.0.1 or http://localhost, or set DUELOG_API_TOKENS.',
    )
  if (shown === 'origin')
    throw new DuelogError(
      'forbidden',
      'Without API tokens, requests of web pages from other addresses or ports are refused: set DUELOG_API_TOKENS.',
    )
}

function refuseOtherMachines(request: FastifyRequest): void {
  const address = request.socket.remoteAddress ?? ''
  if (!isLoopbackName(address.replace(/^::ffff:/, ''))) {
    throw new DuelogError(
      'forbidden',
      'Without API tokens only this machine may call the internal routes: set DUELOG_API_TOKENS.',
    )
  }
}

/**
 * Who may call what. With tokens: a bearer token gives a role. Without: requests of this machine only, and none that a web page of
 * another origin could have sent, because a browser on this machine reaches a loopback port as well as anyone.
 */
import { createHash, timingSafeEqual } from 'node:crypto'
import type { FastifyRequest, onRequestAsyncHookHandler } from 'fastify'
import { DuelogError } from '../../errors/index.ts'
import { isLoopbackName } from '../../network/index.ts'
import { type Identity, type JwtOptions, jwtVerifier } from './jwt.ts'
import { peerTokens } from './peers.ts'
import { type ApiToken, type Role, rank } from './roles.ts'
import type { SignIns } from './sign-ins.ts'

type Known = Identity & { digest: Buffer }
const digest = (token: string): Buffer => createHash('sha256').update(token).digest()

declare module 'fastify' {
  interface FastifyRequest {
    /** Role of the token; null without authentication. */
    role: Role | null
    /** Who calls, for records: name or role of the token, subject of a JWT, `local` without authentication; null where nobody is known. */
    actor: string | null
  }
}

export interface AuthenticationOptions {
  apiTokens?: readonly ApiToken[] | undefined
  jwt?: JwtOptions | undefined
  signIns: SignIns
}

/** A hook that throws `unauthorized` or `forbidden`, and else notes role and actor in the request. */
export function authentication({ apiTokens = [], jwt, signIns }: AuthenticationOptions): onRequestAsyncHookHandler {
  const known = apiTokens.map(({ role, token, name }) => ({ role, actor: name ?? role, digest: digest(token) }))
  const peers = peerTokens(apiTokens).map((token): Known => ({ role: 'operator', actor: 'peer', digest: digest(token) }))
  const names = apiTokens.flatMap(({ name }) => name ?? [])
  const verify = jwt === undefined ? undefined : jwtVerifier(jwt, names)
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
      identityOf(token, internal ? [...known, ...peers] : known) ?? (await verify?.(token))
    const from = { address: request.ip, realm: internal ? 'internal' : 'public' }
    const found = given === undefined ? undefined : await signIns.judged({ ...from, token: given }, () => judge(given))
    if (found === undefined) {
      void reply.header('www-authenticate', 'Bearer realm="duelog"')
      throw new DuelogError(
        'unauthorized',
        `Send ${accepted(known.length > 0, verify !== undefined)} as Authorization: Bearer <token>.`,
      )
    }
    request.role = found.role
    request.actor = found.actor
    if (rank[found.role] < rank[needed]) {
      throw new DuelogError('forbidden', `The token's role is ${found.role}; this call needs ${needed}.`)
    }
  }
}

function accepted(tokens: boolean, jwt: boolean): string {
  return [tokens ? 'a token of DUELOG_API_TOKENS' : '', jwt ? 'a JWT of the identity provider with a role of Duelog' : '']
    .filter(Boolean)
    .join(' or ')
}

/** Compares digests of equal length with every known token, so that the time taken tells nothing of any of them. */
function identityOf(given: string, known: readonly Known[]): Identity | undefined {
  const wanted = digest(given)
  let found: Identity | undefined
  for (const identity of known) {
    if (timingSafeEqual(identity.digest, wanted) && (found === undefined || rank[identity.role] > rank[found.role]))
      found = identity
  }
  return found
}

function refuseForeignOrigin(request: FastifyRequest): void {
  // A name that a page's owner has pointed at this machine (DNS rebinding) shows in Host; another page's request shows in Origin.
  const host = hostnameOf(`http://${request.headers.host ?? ''}`)
  if (host === undefined || !isLoopbackName(host)) {
    throw new DuelogError(
      'forbidden',
      'Without API tokens only requests to a loopback address are served: use http://127.0.0.1 or http://localhost, or set DUELOG_API_TOKENS.',
    )
  }
  const { origin, host: ours = '', 'sec-fetch-site': site, 'sec-fetch-mode': mode } = request.headers
  // Any program of this machine may serve pages on a port of its own: only those of this very server are ours.
  const page = origin === undefined ? undefined : hostOf(origin)
  const isForeign = origin !== undefined && (page === undefined || page !== hostOf(`${origin.split(':', 1)[0]}://${ours}`))
  // Browsers that say where a request comes from say so also where they send no Origin. A link may lead here.
  const isFollowed = mode === 'navigate' && (request.method === 'GET' || request.method === 'HEAD')
  if (isForeign || ((site === 'cross-site' || site === 'same-site') && !isFollowed)) {
    throw new DuelogError(
      'forbidden',
      'Without API tokens no requests of web pages from other addresses or ports are served: set DUELOG_API_TOKENS.',
    )
  }
}

function refuseOtherMachines(request: FastifyRequest): void {
  const address = request.socket.remoteAddress ?? ''
  if (!isLoopbackName(address.replace(/^::ffff:/, ''))) {
    throw new DuelogError('forbidden', 'Without API tokens the internal routes serve this machine only: set DUELOG_API_TOKENS.')
  }
}

/** With the port, unless it is that of the scheme; undefined for what is no http URL, such as null. */
function hostOf(url: string): string | undefined {
  const parsed = URL.parse(url)
  return parsed !== null && /^https?:$/.test(parsed.protocol) ? parsed.host : undefined
}

function hostnameOf(url: string): string | undefined {
  return URL.canParse(url) ? new URL(url).hostname : undefined
}

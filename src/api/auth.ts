/**
 * Who may call what. With tokens: a bearer token gives a role. Without: requests of this machine only, and none that a web page of
 * another origin could have sent, because a browser on this machine reaches a loopback port as well as anyone.
 */
import { createHash, timingSafeEqual } from 'node:crypto'
import type { FastifyRequest, onRequestAsyncHookHandler } from 'fastify'
import { DuelogError } from '../errors.ts'
import type { ApiToken, Role } from './options.ts'

const rank: Record<Role, number> = { viewer: 1, operator: 2, admin: 3 }
const digest = (token: string): Buffer => createHash('sha256').update(token).digest()

declare module 'fastify' {
  interface FastifyRequest {
    /** Role of the token; null without authentication. */
    role: Role | null
  }
}

/** A hook that throws `unauthorized` or `forbidden`, and else notes the role in the request. */
export function authentication(tokens: readonly ApiToken[]): onRequestAsyncHookHandler {
  const known = tokens.map(({ role, token }) => ({ role, digest: digest(token) }))
  return async (request, reply) => {
    const { role: needed, internal } = request.routeOptions.config
    if (known.length === 0) {
      refuseForeignOrigin(request)
      if (internal) refuseOtherMachines(request)
      return
    }
    if (needed === undefined) return
    const role = roleOf(request.headers.authorization, known)
    if (role === undefined) {
      void reply.header('www-authenticate', 'Bearer realm="duelog"')
      throw new DuelogError('unauthorized', 'Send a token of DUELOG_API_TOKENS as Authorization: Bearer <token>.')
    }
    if (rank[role] < rank[needed]) {
      throw new DuelogError('forbidden', `The token's role is ${role}; this call needs ${needed}.`)
    }
    request.role = role
  }
}

/** The token that other processes of this system are asked with: the one that may do least. */
export function leastToken(tokens: readonly ApiToken[] = []): string | undefined {
  return tokens.toSorted((left, right) => rank[left.role] - rank[right.role])[0]?.token
}

/** Compares digests of equal length with every known token, so that the time taken tells nothing of any of them. */
function roleOf(header: string | undefined, known: { role: Role; digest: Buffer }[]): Role | undefined {
  const given = /^Bearer +(\S+) *$/i.exec(header ?? '')?.[1]
  if (given === undefined) return undefined
  const wanted = digest(given)
  let found: Role | undefined
  for (const { role, digest: candidate } of known) {
    if (timingSafeEqual(candidate, wanted) && (found === undefined || rank[role] > rank[found])) found = role
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
  const { origin } = request.headers
  if (origin !== undefined && !isLoopbackName(hostnameOf(origin) ?? '')) {
    throw new DuelogError(
      'forbidden',
      'Without API tokens no requests of web pages from other machines are served: set DUELOG_API_TOKENS.',
    )
  }
}

function refuseOtherMachines(request: FastifyRequest): void {
  const address = request.socket.remoteAddress ?? ''
  if (!isLoopbackName(address.replace(/^::ffff:/, ''))) {
    throw new DuelogError('forbidden', 'Without API tokens the internal routes serve this machine only: set DUELOG_API_TOKENS.')
  }
}

function hostnameOf(url: string): string | undefined {
  return URL.canParse(url) ? new URL(url).hostname : undefined
}

function isLoopbackName(name: string): boolean {
  return (
    name === 'localhost' || name.endsWith('.localhost') || name === '[::1]' || name === '::1' || /^127(\.\d{1,3}){3}$/.test(name)
  )
}

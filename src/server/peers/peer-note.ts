/**
 * Processes of one system recognize each other by their tokens. Each publishes its URL in the metadata of a group, which every
 * client of the brokers can join. So the URL carries proofs of a token, and a URL without a valid proof receives nothing (ADR
 * 0060).
 */
import { createHmac, timingSafeEqual } from 'node:crypto'
import { isLoopbackName } from '../../ground/network/index.ts'

/** viewer reads; operator also writes jobs and commands; admin may do all. */
export type Role = 'viewer' | 'operator' | 'admin'

export const rank: Record<Role, number> = { viewer: 1, operator: 2, admin: 3 }

export interface ApiToken {
  role: Role
  token: string
  /** Name of its holder, for the audit trail. */
  name?: string | undefined
}

/** The tokens that count between processes; tokens of viewers only if there are no others. */
function strongOf(tokens: readonly ApiToken[]): readonly ApiToken[] {
  const strong = tokens.filter(({ role }) => role !== 'viewer').toSorted((left, right) => rank[right.role] - rank[left.role])
  return strong.length > 0 ? strong : tokens
}

/**
 * The token for requests to other processes of this system. It is derived from the strongest token and opens the internal
 * routes only. Owners answer there with whole definitions including credentials, so a viewer's token does not open them.
 */
export function peerToken(tokens: readonly ApiToken[] = []): string | undefined {
  const [strongest] = strongOf(tokens)
  return strongest === undefined ? undefined : derived(strongest)
}

/** Tokens that peers may use: they may have been given further tokens. */
export const peerTokens = (tokens: readonly ApiToken[]): string[] => strongOf(tokens).map(derived)

const derived = ({ token }: ApiToken): string => createHmac('sha256', token).update('duelog internal').digest('base64url')

/** What a process publishes about itself in the metadata of a group. */
export interface PeerNote {
  url: string | undefined
  /** The URL is that of a front, which can end without its engine. Default false. */
  front?: true
  /** One for each strong token, up to a limit: metadata goes to all members at each join. Absent without tokens. */
  proofs?: string[]
}

const proofsMax = 16
const proofBytes = 16

export function peerNote(url: string | undefined, tokens: readonly ApiToken[] = [], hasFront = false): PeerNote {
  const note = { url, ...(hasFront && { front: true as const }) }
  if (url === undefined || tokens.length === 0) return note
  return {
    ...note,
    proofs: strongOf(tokens)
      .slice(0, proofsMax)
      .map((token) => proofOf(token, url).toString('base64url')),
  }
}

const proofOf = ({ token }: ApiToken, url: string): Buffer =>
  createHmac('sha256', token).update(`duelog peer at ${url}`).digest().subarray(0, proofBytes)

/**
 * The URL of a member that may be called. Without tokens only this machine may be. Members of other software may publish
 * anything.
 */
export function urlOfPeer(note: unknown, tokens: readonly ApiToken[] = []): string | undefined {
  const url = shownUrl(note)
  if (url === undefined) return undefined
  if (tokens.length === 0) return isLoopbackName(new URL(url).hostname) ? url : undefined
  const { proofs } = note as { proofs?: unknown }
  if (!Array.isArray(proofs)) return undefined
  const texts = proofs.slice(0, proofsMax).filter((proof) => typeof proof === 'string')
  const given = texts.map((proof) => Buffer.from(proof, 'base64url'))
  const proves = (wanted: Buffer): boolean => given.some((proof) => proof.length === proofBytes && timingSafeEqual(proof, wanted))
  return strongOf(tokens).some((token) => proves(proofOf(token, url))) ? url : undefined
}

export const hasFront = (note: unknown): boolean => (note as Partial<PeerNote> | null)?.front === true

/** The published URL, without a check. */
export function shownUrl(note: unknown): string | undefined {
  const url = typeof note === 'object' && note !== null ? (note as { url?: unknown }).url : undefined
  return typeof url === 'string' && url.length <= 2_048 && /^https?:\/\//.test(url) && URL.canParse(url) ? url : undefined
}

/** Why an owner is not called, for callers and operators. */
export const strangerText = (partition: number, instance: string): string =>
  `Partition ${partition} is owned by ${instance}. This process sends no requests to ${instance}, which does not prove that it has a token of this process. Give all processes of one system the same DUELOG_API_TOKENS.`

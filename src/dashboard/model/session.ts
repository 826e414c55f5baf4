/**
 * Session of the user: a token that is kept until the tab closes, and its role. Tabs of one browser share it: a new one asks the others, and
 * a sign-out ends all. Nothing is written to the disk for it.
 */
import { computed, effect, signal } from '@preact/signals'
import type { Session } from '../../answers/index.ts'

type Role = Session['role']

const storageKey = 'duelog.token'
/** Other tabs answer within some milliseconds, or not at all. */
const otherTabsMs = 200

export const token = signal<string | null>(sessionStorage.getItem(storageKey))
effect(() => {
  if (token.value === null) sessionStorage.removeItem(storageKey)
  else sessionStorage.setItem(storageKey, token.value)
})

/** Undefined until the API has answered; null when it requires a token. */
export const session = signal<Session | null | undefined>(undefined)

type Message = { kind: 'ask' } | { kind: 'token'; token: string } | { kind: 'sign-out' }

const tabs = new BroadcastChannel('duelog.session')
const tell = (message: Message): void => tabs.postMessage(message)
/** A token that the API has refused comes from no other tab again. */
const refused = new Set<string>()
let heard: (() => void) | undefined

tabs.addEventListener('message', ({ data }: MessageEvent<Message>) => {
  if (data.kind === 'ask' && token.value !== null && session.value) tell({ kind: 'token', token: token.value })
  if (data.kind === 'sign-out') token.value = null
  if (data.kind === 'token' && token.value === null && !session.value && !refused.has(data.token)) token.value = data.token
  if (data.kind === 'token') heard?.()
})

export function signIn(given: string, as: Session): void {
  wasRefused.value = false
  session.value = as
  token.value = given
  tell({ kind: 'token', token: given })
}

export function signOut(): void {
  wasRefused.value = false
  token.value = null
  tell({ kind: 'sign-out' })
}

/** Whether the session ended because the API accepts its token no longer. */
export const wasRefused = signal(false)

/** The API has refused the present token. */
export function forgetToken(): void {
  if (token.value !== null) {
    refused.add(token.value)
    wasRefused.value = true
  }
  token.value = null
}

/** Asks the other tabs. Resolves when one has answered, or none will. The token is in `token` then. */
export function askOtherTabs(): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>()
  heard = resolve
  tell({ kind: 'ask' })
  setTimeout(resolve, otherTabsMs)
  return promise
}

const rank: Record<Role, number> = { viewer: 1, operator: 2, admin: 3 }
const may = (needed: Role) => computed(() => rank[session.value?.role ?? 'viewer'] >= rank[needed])

/** Whether to offer actions that change something. The API checks the role itself. */
export const mayOperate = may('operator')

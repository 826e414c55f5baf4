/** Who uses the page: a token kept for as long as the tab lives, and the role that it has. */
import { computed, effect, signal } from '@preact/signals'
import type { Role, Session } from './answers.ts'

const kept = 'duelog.token'

export const token = signal<string | null>(sessionStorage.getItem(kept))
effect(() => {
  if (token.value === null) sessionStorage.removeItem(kept)
  else sessionStorage.setItem(kept, token.value)
})

/** Undefined until the API has said so; null when it wants a token. */
export const session = signal<Session | null | undefined>(undefined)

const rank: Record<Role, number> = { viewer: 1, operator: 2, admin: 3 }
const may = (needed: Role) => computed(() => rank[session.value?.role ?? 'viewer'] >= rank[needed])

/** Whether to offer what changes something. The API refuses it in any case. */
export const mayOperate = may('operator')

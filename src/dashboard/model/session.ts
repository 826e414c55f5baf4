/** Session of the user: a token that is kept until the tab closes, and its role. */
import { computed, effect, signal } from '@preact/signals'
import type { Session } from '../../answers/index.ts'

type Role = Session['role']

const storageKey = 'duelog.token'

export const token = signal<string | null>(sessionStorage.getItem(storageKey))
effect(() => {
  if (token.value === null) sessionStorage.removeItem(storageKey)
  else sessionStorage.setItem(storageKey, token.value)
})

/** Undefined until the API has answered; null when it requires a token. */
export const session = signal<Session | null | undefined>(undefined)

const rank: Record<Role, number> = { viewer: 1, operator: 2, admin: 3 }
const may = (needed: Role) => computed(() => rank[session.value?.role ?? 'viewer'] >= rank[needed])

/** Whether to offer actions that change something. The API checks the role itself. */
export const mayOperate = may('operator')
export const isAdmin = may('admin')

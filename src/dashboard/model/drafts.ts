/**
 * Edits that are not saved yet, by job id; an empty id is the new job. They are kept in this tab, also over a reload, until they are saved or
 * discarded, or their user signs out. The browser asks before it closes a page with drafts. Another user of the tab does not see them.
 */
import { computed, effect, signal } from '@preact/signals'
import { confirmed } from './actions.ts'
import { session, signOut } from './session.ts'
import { counted } from './words.ts'

export interface Draft {
  text: string
  /** The text that the edit began with, to show what others changed meanwhile. */
  base: string
  /** Version of the job that the edit began with; empty for a new job. */
  etag: string
  /** Id of the new job. */
  id?: string
  /** Who edits. Empty without authentication. */
  owner?: string
}

const storageKey = 'duelog.drafts'
/** The oldest drafts give way. */
const draftsMax = 20
/** Maximum length of all drafts together, and so of one. Browsers keep about 5,000,000 characters for each site. */
const draftCharsMax = 2_500_000

const drafts = signal<ReadonlyMap<string, Draft>>(new Map(readKept()))

const owner = computed(() => (session.value?.authentication ? `${session.value.role} ${session.value.name ?? ''}` : ''))
const mine = computed(() => new Map([...drafts.value].filter(([, draft]) => (draft.owner ?? '') === owner.value)))

/** Without subscribing: an editor reads its draft once. */
export const draftOf = (id: string): Draft | undefined => mine.peek().get(id)
export const hasDraft = (id: string): boolean => mine.value.has(id)
const draftCount = (): number => mine.value.size

/** Undefined: there is nothing that is not saved. */
export function keepDraft(id: string, draft: Draft | undefined): void {
  const before = drafts.peek()
  if (draft === undefined && !before.has(id)) return
  const next = new Map(before)
  next.delete(id)
  if (draft !== undefined) next.set(id, { ...draft, owner: owner.peek() })
  drafts.value = next
  if (draft === undefined) write()
}

function discardDrafts(): void {
  drafts.value = new Map()
  write()
}

/** Signs out. Drafts end with the session, as the next user of the tab may be another, so it asks first. */
export async function leave(): Promise<void> {
  const count = draftCount()
  const consequence = `${counted(count, 'draft')} that you have not saved will be lost.`
  const isSure = count === 0 || (await confirmed({ title: 'Discard your changes?', consequence, yes: 'Discard and sign out' }))
  if (!isSure) return
  discardDrafts()
  signOut()
}

/** A draft that is too long stays in the memory of the page alone. */
function write(): void {
  clearTimeout(writing)
  const kept: [string, Draft][] = []
  let chars = 0
  for (const [id, draft] of [...drafts.peek()].toReversed()) {
    chars += id.length + draft.text.length + draft.base.length
    if (chars <= draftCharsMax && kept.length < draftsMax) kept.unshift([id, draft])
  }
  try {
    if (kept.length === 0) sessionStorage.removeItem(storageKey)
    else sessionStorage.setItem(storageKey, JSON.stringify(kept))
  } catch {
    // The browser keeps nothing, or less than this. The page still has its drafts, and asks before it closes.
  }
}

let writing: ReturnType<typeof setTimeout> | undefined
/** Not at each key: a long text takes some milliseconds. */
const writeAfterMs = 200
effect(() => {
  void drafts.value
  clearTimeout(writing)
  writing = setTimeout(write, writeAfterMs)
})
addEventListener('pagehide', write)

function readKept(): [string, Draft][] {
  try {
    const kept: unknown = JSON.parse(sessionStorage.getItem(storageKey) ?? '[]')
    return Array.isArray(kept) ? kept.filter(isEntry).slice(-draftsMax) : []
  } catch {
    return []
  }
}

function isEntry(entry: unknown): entry is [string, Draft] {
  if (!Array.isArray(entry)) return false
  const [id, draft] = entry as [unknown, Partial<Draft> | null]
  return [id, draft?.text, draft?.base, draft?.etag, draft?.id ?? '', draft?.owner ?? ''].every(
    (value) => typeof value === 'string',
  )
}

addEventListener('beforeunload', (event) => {
  if (drafts.peek().size > 0) event.preventDefault()
})

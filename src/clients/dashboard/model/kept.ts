/** What the browser keeps for its viewer: the theme, saved filters, and edits that are not saved yet. */
import { computed, effect, signal } from '@preact/signals'
import { confirmed } from './actions.ts'
import { session, signOut } from './request.ts'
import { counted } from './words.ts'

/** What it keeps under a key. Other pages of this origin may have written anything there. */
function readKept<Item>(storage: Storage, key: string, isItem: (item: unknown) => item is Item): Item[] {
  try {
    const kept: unknown = JSON.parse(storage.getItem(key) ?? '[]')
    return Array.isArray(kept) ? kept.filter(isItem) : []
  } catch {
    return []
  }
}

/** A browser that stores nothing, or less than this, has it until the page is closed. */
function write(storage: Storage, key: string, kept: readonly unknown[]): void {
  try {
    if (kept.length === 0) storage.removeItem(key)
    else storage.setItem(key, JSON.stringify(kept))
  } catch {
    // The page still has it, and asks before it closes with drafts.
  }
}

export type Theme = 'system' | 'light' | 'dark'
const themeKey = 'duelog.theme'
const known = (text: string | null): Theme => (text === 'light' || text === 'dark' ? text : 'system')

export const theme = signal<Theme>(known(localStorage.getItem(themeKey)))
const system = matchMedia('(prefers-color-scheme: dark)')
/** Changes whenever the colors do; charts are then redrawn. */
export const dark = signal(false)

export function applyTheme(): void {
  const { value } = theme
  localStorage.setItem(themeKey, value)
  if (value === 'system') delete document.documentElement.dataset.theme
  else document.documentElement.dataset.theme = value
  dark.value = value === 'dark' || (value === 'system' && system.matches)
}
system.addEventListener('change', applyTheme)

export function chooseTheme(value: Theme): void {
  theme.value = value
  applyTheme()
}

const narrow = matchMedia('(max-width: 760px)')
export const isNarrow = signal(narrow.matches)
narrow.addEventListener('change', ({ matches }) => {
  isNarrow.value = matches
})

interface KeptFilter {
  name: string
  /** Address of the list with the filter. */
  href: string
}

const filtersKey = 'duelog.filters'
/** Maximum of saved filters, and of characters of a name and an address. */
const keptMax = 50
const nameCharsMax = 40
const hrefCharsMax = 2_000

export const keptFilters = signal<readonly KeptFilter[]>(readKept(localStorage, filtersKey, isFilter).slice(-keptMax))

/** A filter with the same name and list is replaced. */
export function keepFilter(name: string, href: string): void {
  const kept = { name: name.trim().slice(0, nameCharsMax), href }
  if (kept.name === '' || href.length > hrefCharsMax) return
  const others = keptFilters.value.filter((other) => other.name !== kept.name || listOfFilter(other) !== listOfFilter(kept))
  writeFilters([...others, kept].slice(-keptMax))
}

export const forgetFilter = (filter: KeptFilter): void => writeFilters(keptFilters.value.filter((other) => other !== filter))

export const listOfFilter = ({ href }: KeptFilter): string => href.split('?', 1)[0] ?? ''

function writeFilters(kept: readonly KeptFilter[]): void {
  keptFilters.value = kept
  write(localStorage, filtersKey, kept)
}

function isFilter(value: unknown): value is KeptFilter {
  const { name, href } = (value ?? {}) as Partial<KeptFilter>
  return typeof name === 'string' && typeof href === 'string' && /^\/[a-z][a-z-]*\?/.test(href) && href.length <= hrefCharsMax
}

/**
 * An edit that is not saved yet. Drafts are kept in this tab by job id, also over a reload, until they are saved or discarded, or their user
 * signs out; an empty id is the new job. The browser asks before it closes a page with drafts. Another user of the tab does not see them.
 */
interface Draft {
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

const draftsKey = 'duelog.drafts'
/** The oldest drafts give way. */
const draftsMax = 20
/** Maximum length of all drafts together, and so of one. Browsers keep about 5,000,000 characters for each site. */
const draftCharsMax = 2_500_000

const drafts = signal<ReadonlyMap<string, Draft>>(new Map(readKept(sessionStorage, draftsKey, isDraft).slice(-draftsMax)))

const owner = computed(() => (session.value?.authentication ? `${session.value.role} ${session.value.name ?? ''}` : ''))
const mine = computed(() => new Map([...drafts.value].filter(([, draft]) => (draft.owner ?? '') === owner.value)))

/** Without subscribing: an editor reads its draft once. */
export const draftOf = (id: string): Draft | undefined => mine.peek().get(id)
export const hasDraft = (id: string): boolean => mine.value.has(id)

/** Undefined: there is nothing that is not saved. */
export function keepDraft(id: string, draft: Draft | undefined): void {
  const before = drafts.peek()
  if (draft === undefined && !before.has(id)) return
  const next = new Map(before)
  next.delete(id)
  if (draft !== undefined) next.set(id, { ...draft, owner: owner.peek() })
  drafts.value = next
  if (draft === undefined) writeDrafts()
}

/** Signs out. Drafts end with the session, as the next user of the tab may be another, so it asks first. */
export async function leave(): Promise<void> {
  const { size } = mine.value
  const consequence = `${counted(size, 'draft')} that you have not saved will be lost.`
  const isSure = size === 0 || (await confirmed({ title: 'Discard your changes?', consequence, yes: 'Discard and sign out' }))
  if (!isSure) return
  drafts.value = new Map()
  writeDrafts()
  signOut()
}

/** A draft that is too long stays in the memory of the page alone. */
function writeDrafts(): void {
  clearTimeout(writing)
  const kept: [string, Draft][] = []
  let chars = 0
  for (const [id, draft] of [...drafts.peek()].toReversed()) {
    chars += id.length + draft.text.length + draft.base.length
    if (chars <= draftCharsMax && kept.length < draftsMax) kept.unshift([id, draft])
  }
  write(sessionStorage, draftsKey, kept)
}

let writing: ReturnType<typeof setTimeout> | undefined
/** Not at each key: a long text takes some milliseconds. */
const writeAfterMs = 200
effect(() => {
  void drafts.value
  clearTimeout(writing)
  writing = setTimeout(writeDrafts, writeAfterMs)
})
addEventListener('pagehide', writeDrafts)

function isDraft(entry: unknown): entry is [string, Draft] {
  if (!Array.isArray(entry)) return false
  const [id, draft] = entry as [unknown, Partial<Draft> | null]
  const texts = [id, draft?.text, draft?.base, draft?.etag, draft?.id ?? '', draft?.owner ?? '']
  return texts.every((value) => typeof value === 'string')
}

addEventListener('beforeunload', (event) => {
  if (drafts.peek().size > 0) event.preventDefault()
})

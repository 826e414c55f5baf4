/** Filters that the viewer has saved in this browser, by list. */
import { signal } from '@preact/signals'

export interface KeptFilter {
  name: string
  /** Address of the list with the filter. */
  href: string
}

const storageKey = 'duelog.filters'
/** Maximum of saved filters, and of characters of a name and an address. */
const keptMax = 50
const nameCharsMax = 40
const hrefCharsMax = 2_000

export const keptFilters = signal<readonly KeptFilter[]>(readKept())

/** A filter with the same name and list is replaced. */
export function keepFilter(name: string, href: string): void {
  const kept = { name: name.trim().slice(0, nameCharsMax), href }
  if (kept.name === '' || href.length > hrefCharsMax) return
  const others = keptFilters.value.filter((other) => other.name !== kept.name || listOf(other) !== listOf(kept))
  write([...others, kept].slice(-keptMax))
}

export const forgetFilter = (filter: KeptFilter): void => write(keptFilters.value.filter((other) => other !== filter))

export const listOf = ({ href }: KeptFilter): string => href.split('?', 1)[0] ?? ''

function write(kept: readonly KeptFilter[]): void {
  keptFilters.value = kept
  try {
    localStorage.setItem(storageKey, JSON.stringify(kept))
  } catch {
    // A browser that stores nothing keeps them until the page is closed.
  }
}

/** Other pages of this origin may have written anything there. */
function readKept(): KeptFilter[] {
  try {
    const kept: unknown = JSON.parse(localStorage.getItem(storageKey) ?? '[]')
    return Array.isArray(kept) ? kept.filter(isFilter).slice(-keptMax) : []
  } catch {
    return []
  }
}

function isFilter(value: unknown): value is KeptFilter {
  const { name, href } = (value ?? {}) as Partial<KeptFilter>
  return typeof name === 'string' && typeof href === 'string' && /^\/[a-z][a-z-]*\?/.test(href) && href.length <= hrefCharsMax
}

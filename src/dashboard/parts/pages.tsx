/** Links to the other pages of a list. */
import { count } from '../model/index.ts'

interface PagesProps {
  href: string
  query: URLSearchParams
  cursor: string | null
  /** Number of entries on this page. */
  shown: number
}

export function Pages({ href, query, cursor, shown }: PagesProps) {
  const hrefAt = (position: string | undefined): string => {
    const other = new URLSearchParams(query)
    if (position === undefined) other.delete('cursor')
    else other.set('cursor', position)
    return other.size === 0 ? href : `${href}?${other}`
  }
  if (shown === 0 && cursor === null && !query.has('cursor')) return null
  return (
    <nav class="pages" aria-label="Pagination">
      <span>{count(shown)} on this page</span>
      {query.has('cursor') && <a href={hrefAt(undefined)}>First page</a>}
      {query.has('cursor') && (
        <button type="button" class="link" onClick={() => history.back()}>
          Back
        </button>
      )}
      {cursor !== null && <a href={hrefAt(cursor)}>{shown === 0 ? 'Continue search' : 'Next page'}</a>}
    </nav>
  )
}

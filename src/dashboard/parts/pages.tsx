/** From one page of a list to the next. */
import { count } from '../model/index.ts'

interface PagesProps {
  href: string
  query: URLSearchParams
  cursor: string | null
  /** How much this page shows. */
  shown: number
}

export function Pages({ href, query, cursor, shown }: PagesProps) {
  const at = (place: string | undefined): string => {
    const other = new URLSearchParams(query)
    if (place === undefined) other.delete('cursor')
    else other.set('cursor', place)
    return other.size === 0 ? href : `${href}?${other}`
  }
  if (shown === 0 && cursor === null && !query.has('cursor')) return null
  return (
    <nav class="pages" aria-label="Pages of the list">
      <span>{count(shown)} on this page</span>
      {query.has('cursor') && <a href={at(undefined)}>First page</a>}
      {query.has('cursor') && (
        <button type="button" class="link" onClick={() => history.back()}>
          Back
        </button>
      )}
      {cursor !== null && <a href={at(cursor)}>{shown === 0 ? 'Look further' : 'Next page'}</a>}
    </nav>
  )
}

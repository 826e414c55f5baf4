/** Search form of a list. The search is in the address, so that it can be bookmarked and shared. */
import { go } from '../model/index.ts'
import { KeptFilters } from './kept-filters.tsx'
import { TimeRanges } from './time-ranges.tsx'

export interface SearchField {
  name: string
  label: string
  /** With choices the field is a menu, and a choice starts the search. */
  choices?: readonly string[]
  /** Kind of input; a text without it. A time is given in the viewer's zone, and is UTC in the address. */
  kind?: 'time' | 'number'
  /** Shown in the code font. */
  code?: boolean
}

interface SearchFormProps {
  /** Label for screen readers. */
  label: string
  /** Address of the list without filters. */
  href: string
  fields: readonly SearchField[]
  query: URLSearchParams
}

/** How a list is shown, which a search does not change. */
const ways = ['order', 'by']

export const isSearched = (fields: readonly SearchField[], query: URLSearchParams): boolean =>
  fields.some(({ name }) => query.has(name))

/** The filters of the address, as parameters for the API. */
export const wantedOf = (fields: readonly SearchField[], query: URLSearchParams): Record<string, string> =>
  Object.fromEntries(fields.flatMap(({ name }) => (query.get(name) ? [[name, query.get(name) ?? '']] : [])))

export function SearchForm({ label, href, fields, query }: SearchFormProps) {
  const search = (form: HTMLFormElement): void => {
    const wanted = new URLSearchParams()
    for (const { name, kind } of fields) {
      const text = String(new FormData(form).get(name) ?? '').trim()
      if (text !== '') wanted.set(name, kind === 'time' ? new Date(text).toISOString() : text)
    }
    for (const name of ways) if (query.has(name)) wanted.set(name, query.get(name) ?? '')
    go(wanted.size === 0 ? href : `${href}?${wanted}`)
  }
  return (
    <form
      class="filters"
      role="search"
      aria-label={label}
      onSubmit={(event) => {
        event.preventDefault()
        search(event.currentTarget)
      }}
    >
      {fields.map((field) => (
        <Field key={field.name} field={field} value={query.get(field.name) ?? ''} search={search} />
      ))}
      <button type="submit">Search</button>
      {fields.some(({ name }) => name === 'from') && <TimeRanges href={href} query={query} />}
      {isSearched(fields, query) && <a href={clearedOf(href, query)}>Clear filters</a>}
      <KeptFilters href={href} query={query} names={fields.map(({ name }) => name)} />
    </form>
  )
}

function clearedOf(href: string, query: URLSearchParams): string {
  const left = new URLSearchParams([...query].filter(([name]) => ways.includes(name)))
  return left.size === 0 ? href : `${href}?${left}`
}

/** Longer years are no dates for every part of the system. */
export const latestTime = '9999-12-31T23:59:59'

/** `2026-11-25T01:30:00` in the viewer's zone, as a browser's field wants it. */
function localText(iso: string): string {
  const at = new Date(iso)
  if (Number.isNaN(at.getTime())) return ''
  return new Date(at.getTime() - at.getTimezoneOffset() * 60_000).toISOString().slice(0, 19)
}

function Field({ field, value, search }: { field: SearchField; value: string; search: (form: HTMLFormElement) => void }) {
  const { name, label, choices } = field
  return (
    <label htmlFor={`search-${name}`}>
      {label}
      {choices === undefined ? (
        <Input field={field} value={value} />
      ) : (
        <select
          id={`search-${name}`}
          name={name}
          onChange={(event) => {
            const { form } = event.currentTarget
            if (form !== null) search(form)
          }}
        >
          <option value="">any</option>
          {choices.map((choice) => (
            <option key={choice} value={choice} selected={value === choice}>
              {choice.toLowerCase().replaceAll('_', ' ')}
            </option>
          ))}
        </select>
      )}
    </label>
  )
}

function Input({ field: { name, kind, code }, value }: { field: SearchField; value: string }) {
  const id = `search-${name}`
  if (kind === 'time')
    return <input id={id} name={name} type="datetime-local" step={1} max={latestTime} defaultValue={localText(value)} />
  if (kind === 'number') return <input id={id} name={name} type="number" min={0} defaultValue={value} />
  const more = { autocomplete: 'off', spellcheck: false, class: code ? 'code' : undefined } as const
  return <input id={id} name={name} type="search" defaultValue={value} {...more} />
}

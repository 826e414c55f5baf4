/** Search form of a list. The search is in the address, so that it can be bookmarked and shared. */
import { go } from '../model/index.ts'

export interface SearchField {
  name: string
  label: string
  /** With choices the field is a menu, and a choice starts the search. */
  choices?: readonly string[]
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

export const isSearched = (fields: readonly SearchField[], query: URLSearchParams): boolean =>
  fields.some(({ name }) => query.has(name))

/** The filters of the address, as parameters for the API. */
export const wantedOf = (fields: readonly SearchField[], query: URLSearchParams): Record<string, string> =>
  Object.fromEntries(fields.flatMap(({ name }) => (query.get(name) ? [[name, query.get(name) ?? '']] : [])))

export function SearchForm({ label, href, fields, query }: SearchFormProps) {
  const search = (form: HTMLFormElement): void => {
    const wanted = new URLSearchParams()
    for (const { name } of fields) {
      const text = String(new FormData(form).get(name) ?? '').trim()
      if (text !== '') wanted.set(name, text)
    }
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
      {isSearched(fields, query) && <a href={href}>Clear filters</a>}
    </form>
  )
}

function Field({ field, value, search }: { field: SearchField; value: string; search: (form: HTMLFormElement) => void }) {
  const { name, label, choices, code } = field
  return (
    <label htmlFor={`search-${name}`}>
      {label}
      {choices === undefined ? (
        <input
          id={`search-${name}`}
          name={name}
          type="search"
          defaultValue={value}
          autocomplete="off"
          spellcheck={false}
          class={code ? 'code' : undefined}
        />
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

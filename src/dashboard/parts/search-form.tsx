/** What a list is searched by. It stands in the address, so that a search can be kept and sent. */
import { go } from '../model/index.ts'

export interface SearchField {
  name: string
  label: string
  /** With choices it is a menu, whose choice is searched for at once. */
  choices?: readonly string[]
  /** Set as code is. */
  code?: boolean
}

interface SearchFormProps {
  /** What is searched, for those who hear it. */
  label: string
  /** Address of the list without a search. */
  href: string
  fields: readonly SearchField[]
  query: URLSearchParams
}

export const isSearched = (fields: readonly SearchField[], query: URLSearchParams): boolean =>
  fields.some(({ name }) => query.has(name))

/** What of the address the API is asked with. */
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
      {isSearched(fields, query) && <a href={href}>Show all</a>}
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

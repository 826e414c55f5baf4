/** A list that can be searched: its form, with the usual ranges of time and the filters that were saved. The search is in the address, so that it can be shared. */
import { useSignal } from '@preact/signals'
import type { ComponentChildren } from 'preact'
import { useLayoutEffect, useRef } from 'preact/hooks'
import {
  forgetFilter,
  go,
  hrefWith,
  keepFilter,
  keptFilters,
  listOfFilter,
  type Resource,
  setTo,
  statusWord,
  visible,
} from '../model/index.ts'
import { Answer, Choice, Heading } from './states.tsx'
import { Pages } from './table.tsx'

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

interface ListViewProps<Page> extends Omit<SearchFormProps, 'label'> {
  title: string
  /** Beside the title, and between it and the form. */
  beside?: ComponentChildren
  above?: ComponentChildren
  of: Resource<Page>
  /** Completes "Loading …". */
  what: string
  /** How many entries a page has. Undefined: more of them are coming. */
  shownOf: (page: Page) => number | undefined
  children: (page: Page) => ComponentChildren
}

/** A view of a list: heading, form, the loaded page, and links to the others. */
export function ListView<Page extends { cursor: string | null }>(props: ListViewProps<Page>) {
  const { title, beside, above, href, fields, query, of, what, shownOf, children } = props
  return (
    <>
      <Heading title={title}>{beside}</Heading>
      {above}
      <SearchForm key={searchOf(query).toString()} {...{ label: title, href, fields, query }} />
      <Answer of={of} what={what}>
        {(page) => {
          const shown = shownOf(page)
          return (
            <>
              {children(page)}
              {shown !== undefined && <Pages {...{ href, query, shown }} cursor={page.cursor} />}
            </>
          )
        }}
      </Answer>
    </>
  )
}

/** What is asked of the server: an order is that of the loaded page. */
export const searchOf = (query: URLSearchParams): URLSearchParams =>
  new URLSearchParams([...query].filter(([name]) => name !== 'order'))

/** How a list is shown, which a search does not change. */
const ways = ['order', 'by']
const only = (names: readonly string[], query: URLSearchParams): [string, string][] =>
  [...query].filter(([name]) => names.includes(name))

export const isSearched = (fields: readonly SearchField[], query: URLSearchParams): boolean =>
  fields.some(({ name }) => query.has(name))

/** The filters of the address, as parameters for the API. */
export const wantedOf = <Wanted extends object = Record<string, string>>(
  fields: readonly SearchField[],
  query: URLSearchParams,
): Wanted => Object.fromEntries(fields.flatMap(({ name }) => (query.get(name) ? [[name, query.get(name) ?? '']] : []))) as Wanted

export function SearchForm({ label, href, fields, query }: SearchFormProps) {
  const search = (form: HTMLFormElement): void => {
    const wanted = new URLSearchParams()
    for (const { name, kind } of fields) {
      const text = String(new FormData(form).get(name) ?? '').trim()
      if (text !== '') wanted.set(name, kind === 'time' ? new Date(text).toISOString() : text)
    }
    go(hrefWith(href, wanted, Object.fromEntries(only(ways, query))))
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
      {isSearched(fields, query) && <a href={hrefWith(href, new URLSearchParams(only(ways, query)), {})}>Clear filters</a>}
      <KeptFilters href={href} query={query} names={fields.map(({ name }) => name)} />
    </form>
  )
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
        <select id={`search-${name}`} name={name} onChange={({ currentTarget: { form } }) => form !== null && search(form)}>
          <option value="">any</option>
          {choices.map((choice) => (
            <option key={choice} value={choice} selected={value === choice}>
              {statusWord(choice)}
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

/** The times of a filter are those of `from` and `to`. */
function TimeRanges({ href, query }: Pick<SearchFormProps, 'href' | 'query'>) {
  const range = (title: string, from: string, to: string | undefined) => {
    const isShown = query.get('from') === from && (query.get('to') ?? undefined) === to
    return [title, hrefWith(href, query, { cursor: undefined, from, to }), isShown] as const
  }
  const [today, yesterday, week] = [midnight(0), midnight(-1), midnight(-6)]
  const links = [range('today', today, undefined), range('yesterday', yesterday, today), range('last 7 days', week, undefined)]
  return <Choice label="Time range" links={links} />
}

/** The beginning of today, or of a day before it. */
function midnight(days: number): string {
  const at = new Date()
  at.setHours(0, 0, 0, 0)
  at.setDate(at.getDate() + days)
  return at.toISOString()
}

/** `names`: of the fields of the filter. */
function KeptFilters({ href, query, names }: { href: string; query: URLSearchParams; names: readonly string[] }) {
  const own = keptFilters.value.filter((filter) => listOfFilter(filter) === href)
  const present = new URLSearchParams(only(names, query))
  return (
    <>
      {own.map((filter) => (
        <span key={filter.name} class="kept">
          <a href={filter.href}>
            <bdi>{visible(filter.name)}</bdi>
          </a>
          <button
            type="button"
            class="quiet"
            aria-label={`Forget filter ${visible(filter.name)}`}
            onClick={() => forgetFilter(filter)}
          >
            ×
          </button>
        </span>
      ))}
      {present.size > 0 && <SaveFilter address={`${href}?${present}`} />}
    </>
  )
}

/** A button, and in its place the field for the name. The focus goes from one to the other. */
function SaveFilter({ address }: { address: string }) {
  const name = useSignal<string | undefined>(undefined)
  const isNaming = name.value !== undefined
  const before = useRef(isNaming)
  const [field, button] = [useRef<HTMLInputElement>(null), useRef<HTMLButtonElement>(null)]
  useLayoutEffect(() => {
    if (before.current !== isNaming) (isNaming ? field : button).current?.focus()
    before.current = isNaming
  }, [isNaming])
  const save = (): void => {
    if ((name.value ?? '').trim() === '') return
    keepFilter(name.value ?? '', address)
    name.value = undefined
  }
  if (!isNaming)
    return (
      <button ref={button} type="button" class="link" onClick={() => setTo(name, '')}>
        Save filter
      </button>
    )
  return (
    <>
      <label htmlFor="filter-name">
        Name of the filter
        <input
          id="filter-name"
          ref={field}
          maxLength={40}
          autocomplete="off"
          onInput={({ currentTarget: { value } }) => setTo(name, value)}
          onKeyDown={(event) => {
            if (event.key !== 'Enter' && event.key !== 'Escape') return
            event.preventDefault()
            if (event.key === 'Enter') save()
            else name.value = undefined
          }}
        />
      </label>
      <button type="button" disabled={name.value?.trim() === ''} onClick={save}>
        Save
      </button>
    </>
  )
}

/** Saved filters of a list: links to them, and the form that saves the present one. */
import { useSignal } from '@preact/signals'
import { useLayoutEffect, useRef } from 'preact/hooks'
import { forgetFilter, keepFilter, keptFilters, listOfFilter, visible } from '../model/index.ts'

interface KeptFiltersProps {
  href: string
  query: URLSearchParams
  /** Names of the fields of the filter. */
  names: readonly string[]
}

export function KeptFilters({ href, query, names }: KeptFiltersProps) {
  const own = keptFilters.value.filter((filter) => listOfFilter(filter) === href)
  const present = new URLSearchParams([...query].filter(([name]) => names.includes(name)))
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
  if (!isNaming) {
    const begin = (): void => {
      name.value = ''
    }
    return (
      <button ref={button} type="button" class="link" onClick={begin}>
        Save filter
      </button>
    )
  }
  return (
    <>
      <label htmlFor="filter-name">
        Name of the filter
        <input
          id="filter-name"
          ref={field}
          maxLength={40}
          autocomplete="off"
          onInput={(event) => {
            name.value = event.currentTarget.value
          }}
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

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
  const naming = useSignal<string | undefined>(undefined)
  const own = keptFilters.value.filter((filter) => listOfFilter(filter) === href)
  const present = new URLSearchParams([...query].filter(([name]) => names.includes(name)))
  const save = (): void => {
    if ((naming.value ?? '').trim() === '') return
    keepFilter(naming.value ?? '', `${href}?${present}`)
    naming.value = undefined
  }
  const isNaming = naming.value !== undefined
  const before = useRef(isNaming)
  const [field, button] = [useRef<HTMLInputElement>(null), useRef<HTMLButtonElement>(null)]
  // Either one takes the place of the other, and with it the focus.
  useLayoutEffect(() => {
    if (before.current !== isNaming) (isNaming ? field : button).current?.focus()
    before.current = isNaming
  }, [isNaming])
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
      {present.size > 0 && naming.value === undefined && (
        <button
          ref={button}
          type="button"
          class="link"
          onClick={() => {
            naming.value = ''
          }}
        >
          Save filter
        </button>
      )}
      {naming.value !== undefined && (
        <label htmlFor="filter-name">
          Name of the filter
          <input
            id="filter-name"
            ref={field}
            maxLength={40}
            autocomplete="off"
            onInput={(event) => {
              naming.value = event.currentTarget.value
            }}
            onKeyDown={(event) => {
              if (event.key !== 'Enter' && event.key !== 'Escape') return
              event.preventDefault()
              if (event.key === 'Enter') save()
              else naming.value = undefined
            }}
          />
        </label>
      )}
      {naming.value !== undefined && (
        <button type="button" disabled={naming.value.trim() === ''} onClick={save}>
          Save
        </button>
      )}
    </>
  )
}

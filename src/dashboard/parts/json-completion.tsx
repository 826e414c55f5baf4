/** Suggestions at the caret of a text field for JSON, by keyboard and pointer. The focus stays in the text. */
import { useSignal } from '@preact/signals'
import type { RefObject } from 'preact'
import { useEffect, useRef } from 'preact/hooks'
import { type Completion, completionsAt, counted, type FieldSchemas, type KnownNames, placeAt, placeOf } from '../model/index.ts'

interface Shown {
  options: readonly Completion[]
  active: number
  /** From 1, of the word that is completed. */
  line: number
  column: number
  scrollTop: number
  scrollLeft: number
}

export interface Suggestions {
  shown: Shown | undefined
  choose: (option: Completion) => void
  onInput: () => void
  onKeyDown: (event: KeyboardEvent) => void
  close: () => void
}

const listId = 'json-suggestions'
export const optionId = (index: number): string => `${listId}-${index}`

/** What the text field has to say about its list. */
export const listProps = (shown: Shown | undefined) => ({
  'aria-autocomplete': 'list' as const,
  'aria-haspopup': 'listbox' as const,
  'aria-controls': shown === undefined ? undefined : listId,
  'aria-activedescendant': shown === undefined ? undefined : optionId(shown.active),
})

export function useSuggestions(
  area: RefObject<HTMLTextAreaElement | null>,
  schemas: FieldSchemas | null,
  known: KnownNames,
): Suggestions {
  const shown = useSignal<Shown | undefined>(undefined)
  const close = (): void => {
    shown.value = undefined
  }
  const look = (isAsked: boolean): void => {
    const field = area.current
    if (field === null || schemas === null || field.selectionStart !== field.selectionEnd) return close()
    const place = placeAt(field.value, field.selectionStart)
    if (place === undefined || !(place.isBegun || isAsked)) return close()
    const options = completionsAt(field.value, place, schemas, known)
    const isWhole = options.length === 1 && options[0]?.label === place.typed
    if (options.length === 0 || isWhole) return close()
    const { scrollTop, scrollLeft } = field
    shown.value = { options, active: 0, ...placeOf(field.value, place.from), scrollTop, scrollLeft }
  }
  const choose = (option: Completion): void => {
    close()
    const field = area.current
    if (field === null) return
    write(field, option.from, option.to, option.insert)
    const caret = option.from + option.insert.length - option.back
    field.setSelectionRange(caret, caret)
    // The value of a new member may have suggestions too.
    look(false)
  }
  const onKeyDown = (event: KeyboardEvent): void => {
    const open = shown.value
    // An input method takes these keys for the word that it composes.
    if (event.isComposing) return
    if (event.key === ' ' && event.ctrlKey) {
      event.preventDefault()
      look(true)
    } else if (open === undefined) {
      if (event.key === 'Enter' && !event.ctrlKey && !event.metaKey && area.current !== null) newLine(event, area.current)
    } else if (event.key === 'ArrowDown' || event.key === 'ArrowUp') {
      event.preventDefault()
      const by = event.key === 'ArrowDown' ? 1 : open.options.length - 1
      shown.value = { ...open, active: (open.active + by) % open.options.length }
    } else if ((event.key === 'Enter' || event.key === 'Tab') && !event.shiftKey) {
      event.preventDefault()
      const option = open.options[open.active]
      if (option !== undefined) choose(option)
    } else if (event.key === 'Escape') {
      event.preventDefault()
      event.stopPropagation()
      close()
    } else if (/^(?:Arrow|Home|End|Page)/.test(event.key)) close()
  }
  return { shown: shown.value, choose, onInput: () => look(false), onKeyDown, close }
}

/** So that it can be undone: a text field forgets its history when its value is set. */
function write(field: HTMLTextAreaElement, from: number, to: number, text: string): void {
  field.focus()
  field.setSelectionRange(from, to)
  if (document.execCommand('insertText', false, text)) return
  field.setRangeText(text, from, to, 'end')
  field.dispatchEvent(new Event('input', { bubbles: true }))
}

/** The next line begins below this one, or further in after an opening bracket. */
function newLine(event: KeyboardEvent, field: HTMLTextAreaElement): void {
  event.preventDefault()
  const { value, selectionStart: from, selectionEnd: to } = field
  const line = value.slice(value.lastIndexOf('\n', from - 1) + 1, from)
  const indent = /^[ \t]*/.exec(line)?.[0] ?? ''
  const isOpen = /[{[]\s*$/.test(line)
  const isClosed = isOpen && /^\s*[}\]]/.test(value.slice(to, to + 1))
  write(field, from, to, `\n${indent}${isOpen ? '  ' : ''}${isClosed ? `\n${indent}` : ''}`)
  const caret = from + 1 + indent.length + (isOpen ? 2 : 0)
  field.setSelectionRange(caret, caret)
}

export function SuggestionList({ shown, choose }: Pick<Suggestions, 'shown' | 'choose'>) {
  const list = useRef<HTMLDivElement>(null)
  useEffect(() => {
    list.current?.querySelector('[aria-selected="true"]')?.scrollIntoView({ block: 'nearest' })
    list.current?.parentElement?.scrollIntoView({ block: 'nearest' })
  }, [shown?.active, shown?.options])
  return (
    <>
      <p class="unseen" role="status">
        {shown !== undefined &&
          `${counted(shown.options.length, 'suggestion')}. Arrow keys choose, Enter accepts, Escape closes.`}
      </p>
      {shown !== undefined && (
        <div
          class="suggestions"
          style={{
            top: `${shown.line * 20 + 10 - shown.scrollTop}px`,
            left: `min(calc(var(--gutter) + ${shown.column - 1}ch - ${shown.scrollLeft}px), max(0px, calc(100% - 340px)))`,
          }}
        >
          <div ref={list} id={listId} role="listbox" aria-label="Suggestions">
            {shown.options.map((option, index) => (
              <div
                key={option.label}
                id={optionId(index)}
                role="option"
                tabIndex={-1}
                aria-selected={index === shown.active}
                onPointerDown={(event) => {
                  event.preventDefault()
                  choose(option)
                }}
              >
                <span>{option.label}</span>
                <span class="aside">{option.aside}</span>
              </div>
            ))}
          </div>
          <p class="explains">{shown.options[shown.active]?.description}</p>
        </div>
      )}
    </>
  )
}

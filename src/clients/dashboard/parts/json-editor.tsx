/** A text field for JSON: line numbers, colors, what is wrong on the line where it is, and suggestions at the caret. Its text is the browser's own text field. */
import { type Signal, useSignal } from '@preact/signals'
import type { RefObject } from 'preact'
import { useEffect, useMemo, useRef } from 'preact/hooks'
import {
  type Completion,
  coloredParts,
  completionsAt,
  counted,
  type FieldSchemas,
  type KnownNames,
  placeAt,
  placeOf,
  setTo,
  visible,
} from '../model/index.ts'

/** Something that is wrong at a place of the text. */
export interface Mark {
  text: string
  /** Field of the definition; empty if it is the text that is wrong. */
  field: string
  /** From 1. Undefined: it has no place, or its place is not known yet. */
  line?: number
  column?: number
}

interface JsonEditorProps {
  area: RefObject<HTMLTextAreaElement | null>
  text: Signal<string>
  marks: readonly Mark[]
  label: string
  describedBy: string
  /** Without them nothing is suggested. */
  schemas: FieldSchemas | null
  known: KnownNames
}

const lineHeightPx = 20
const paddingPx = 8
const rowsMin = 14
const rowsMax = 34
/** A text with a longer line has no colors. */
const coloredCharsMax = 2_000

export function JsonEditor({ area, text, marks, label, describedBy, schemas, known }: JsonEditorProps) {
  const value = text.value
  const lines = useMemo(() => value.split('\n'), [value])
  const isColored = useMemo(() => lines.every((line) => line.length <= coloredCharsMax), [lines])
  const suggestions = useSuggestions(area, schemas, known)
  const rows = Math.min(rowsMax, Math.max(rowsMin, lines.length + 1))
  return (
    <div
      class={`json-editor${isColored ? ' colored' : ''}`}
      style={{ '--gutter': `${Math.max(2, String(lines.length).length) + 2.5}ch` }}
    >
      <VisibleLines area={area} lines={lines} marks={marks} isColored={isColored} />
      <textarea
        ref={area}
        class="code"
        aria-label={label}
        aria-describedby={describedBy}
        aria-invalid={marks.length > 0}
        spellcheck={false}
        autocapitalize="off"
        autocomplete="off"
        wrap="off"
        rows={rows}
        value={value}
        {...listProps(suggestions.shown)}
        onInput={({ currentTarget }) => {
          text.value = currentTarget.value
          suggestions.onInput()
        }}
        onKeyDown={suggestions.onKeyDown}
        onBlur={suggestions.close}
        onScroll={suggestions.close}
        onClick={suggestions.close}
      />
      <SuggestionList {...suggestions} />
    </div>
  )
}

interface VisibleLinesProps {
  area: RefObject<HTMLTextAreaElement | null>
  lines: readonly string[]
  marks: readonly Mark[]
  isColored: boolean
}

/** Only the lines that are in view, behind the text field. */
function VisibleLines({ area, lines, marks, isColored }: VisibleLinesProps) {
  const view = useSignal({ top: 0, left: 0, height: rowsMin * lineHeightPx })
  useEffect(() => {
    const field = area.current
    if (field === null) return
    const look = (): void => setTo(view, { top: field.scrollTop, left: field.scrollLeft, height: field.clientHeight })
    const watching = new ResizeObserver(look)
    watching.observe(field)
    field.addEventListener('scroll', look, { passive: true })
    return () => {
      watching.disconnect()
      field.removeEventListener('scroll', look)
    }
  }, [])
  const { top, left, height } = view.value
  const first = Math.max(0, Math.floor((top - paddingPx) / lineHeightPx))
  const shown = lines.slice(first, first + Math.ceil(height / lineHeightPx) + 1)
  const offset = paddingPx + first * lineHeightPx - top
  const marksOf = (index: number): Mark[] => marks.filter(({ line }) => line === first + index + 1)
  return (
    <div class="json-layer" aria-hidden="true">
      <div class="json-numbers" style={{ transform: `translateY(${offset}px)` }}>
        {shown.map((_, index) => (
          <div key={first + index} class={marksOf(index).length > 0 ? 'wrong' : undefined}>
            {first + index + 1}
          </div>
        ))}
      </div>
      <div class="json-lines">
        <div style={{ transform: `translate(${-left}px, ${offset}px)` }}>
          {shown.map((line, index) => (
            <Line key={first + index} text={line} marks={marksOf(index)} isColored={isColored} />
          ))}
        </div>
      </div>
    </div>
  )
}

function Line({ text, marks, isColored }: { text: string; marks: readonly Mark[]; isColored: boolean }) {
  const parts = useMemo(() => (isColored ? coloredParts(text) : []), [text, isColored])
  return (
    <div class={marks.length > 0 ? 'wrong' : undefined}>
      {parts.map(({ kind, text: part }, index) => (
        <span key={index} class={kind}>
          {part}
        </span>
      ))}
      {marks.length > 0 && isColored && <span class="says">{marks.map(({ text: says }) => visible(says)).join(' ')}</span>}
    </div>
  )
}

interface Shown {
  options: readonly Completion[]
  active: number
  /** From 1, of the word that is completed. */
  line: number
  column: number
  scrollTop: number
  scrollLeft: number
}

interface Suggestions {
  shown: Shown | undefined
  choose: (option: Completion) => void
  onInput: () => void
  onKeyDown: (event: KeyboardEvent) => void
  close: () => void
}

const listId = 'json-suggestions'
const optionId = (index: number): string => `${listId}-${index}`

/** What the text field has to say about its list. */
const listProps = (shown: Shown | undefined) => ({
  'aria-autocomplete': 'list' as const,
  'aria-haspopup': 'listbox' as const,
  'aria-controls': shown === undefined ? undefined : listId,
  'aria-activedescendant': shown === undefined ? undefined : optionId(shown.active),
})

/** Suggestions at the caret, by keyboard and pointer. The focus stays in the text. */
function useSuggestions(
  area: RefObject<HTMLTextAreaElement | null>,
  schemas: FieldSchemas | null,
  known: KnownNames,
): Suggestions {
  const shown = useSignal<Shown | undefined>(undefined)
  const close = (): void => setTo(shown, undefined)
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

function SuggestionList({ shown, choose }: Pick<Suggestions, 'shown' | 'choose'>) {
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

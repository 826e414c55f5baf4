/** A text field for JSON: line numbers, colors, and what is wrong on the line where it is. Its text is the browser's own text field. */
import { type Signal, useSignal } from '@preact/signals'
import type { RefObject } from 'preact'
import { useEffect, useMemo } from 'preact/hooks'
import { coloredParts, type FieldSchemas, type KnownNames, visible } from '../model/index.ts'
import { listProps, SuggestionList, useSuggestions } from './json-completion.tsx'

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
    <div class={`json-editor${isColored ? ' colored' : ''}`} data-digits={Math.max(2, String(lines.length).length)}>
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
    const look = (): void => {
      view.value = { top: field.scrollTop, left: field.scrollLeft, height: field.clientHeight }
    }
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

/** Table that becomes a list of cards in a narrow place: each row a card, each cell with the title of its column. */
import type { ComponentChildren } from 'preact'

export interface Column {
  title: string
  /** Aligned right. */
  number?: boolean
  /** The title is for screen readers only. */
  unseen?: boolean
  /** Length of CSS. One width makes all columns fixed: those without one share the rest. So no value moves a column. */
  width?: string
  /** Left out where the table is narrow but no list of cards yet. Its cells have the class `wide-only`. */
  wideOnly?: boolean
}

interface TableProps {
  /** Completes the label "Table of …". */
  of: string
  columns: readonly (Column | string | false)[]
  class?: string
  children: ComponentChildren
}

export function Table({ of, columns, class: kind = '', children }: TableProps) {
  const shown = columns.flatMap((column): Column[] =>
    column === false ? [] : [typeof column === 'string' ? { title: column } : column],
  )
  const isFixed = shown.some(({ width }) => width !== undefined)
  // The style sheet writes these titles before the cells of a card.
  const titles = Object.fromEntries(
    shown.flatMap(({ title, unseen }, index) => (unseen ? [] : [[`--title-${index + 1}`, JSON.stringify(title)]])),
  )
  return (
    <div class="scroll" tabIndex={0} role="region" aria-label={`Table of ${of}`}>
      <table class={`cards ${isFixed ? 'fixed ' : ''}${kind}`} style={titles}>
        {isFixed && (
          <colgroup>
            {shown.map(({ title, width = 'auto', wideOnly }) => (
              <col key={title} class={wideOnly ? 'wide-only' : undefined} style={{ width }} />
            ))}
          </colgroup>
        )}
        <thead>
          <tr>
            {shown.map(({ title, number, unseen, wideOnly }) => (
              <th key={title} scope="col" class={`${number ? 'number ' : ''}${wideOnly ? 'wide-only' : ''}`}>
                {unseen ? <span class="unseen">{title}</span> : title}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>{children}</tbody>
      </table>
    </div>
  )
}

/** Table that scrolls sideways when it is too wide, also by keyboard. */
import type { ComponentChildren } from 'preact'

export interface Column {
  title: string
  /** Aligned right. */
  number?: boolean
  /** The title is for screen readers only. */
  unseen?: boolean
}

interface TableProps {
  /** Completes the label "Table of …". */
  of: string
  columns: readonly (Column | string | false)[]
  class?: string
  children: ComponentChildren
}

export function Table({ of, columns, class: kind, children }: TableProps) {
  return (
    <div class="scroll" tabIndex={0} role="region" aria-label={`Table of ${of}`}>
      <table class={kind}>
        <thead>
          <tr>
            {columns.map((column) => {
              if (column === false) return null
              const { title, number = false, unseen = false } = typeof column === 'string' ? { title: column } : column
              return (
                <th key={title} scope="col" class={number ? 'number' : undefined}>
                  {unseen ? <span class="unseen">{title}</span> : title}
                </th>
              )
            })}
          </tr>
        </thead>
        <tbody>{children}</tbody>
      </table>
    </div>
  )
}

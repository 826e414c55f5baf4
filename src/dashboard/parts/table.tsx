/** A table that scrolls sideways where it has no room, with the keyboard as well. */
import type { ComponentChildren } from 'preact'

export interface Column {
  title: string
  /** Figures stand at the right. */
  number?: boolean
  /** Its title is heard and not seen. */
  unseen?: boolean
}

interface TableProps {
  /** What is in it: "Table of …". */
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

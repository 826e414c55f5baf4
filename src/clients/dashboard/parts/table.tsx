/**
 * Table that becomes a list of cards in a narrow place: each row a card, each cell with the title of its column. Links to its other
 * pages and orders.
 */
import { type ComponentChildren, Fragment } from 'preact'
import { count, hrefWith } from '../model/index.ts'
import { Choice } from './states.tsx'

interface Look<Item> {
  /** Class of its cells. */
  class?: string
  /** The title of a cell, for who points at it. */
  hint?: (item: Item) => string | undefined
  /** The title is for screen readers only. */
  unseen?: boolean
  /** Length of CSS. One width makes all columns fixed: those without one share the rest. So no value moves a column. */
  width?: string
  /** Left out where the table is narrow but no list of cards yet. */
  wideOnly?: boolean
}

interface Column<Item> extends Look<Item> {
  title: string
  cell: (item: Item) => ComponentChildren
  /** Its cells name the rows. */
  isHead?: boolean
}

type Cell<Item> = Column<Item>['cell']
export const column = <Item,>(title: string, cell: Cell<Item>, look: Look<Item> = {}): Column<Item> => ({ title, cell, ...look })
/** Aligned right. */
export const numeric = <Item,>(title: string, cell: Cell<Item>, look: Look<Item> = {}): Column<Item> =>
  column(title, cell, { ...look, class: 'number' })
export const head = <Item,>(title: string, cell: Cell<Item>, look: Look<Item> = {}): Column<Item> => ({
  ...column(title, cell, look),
  isHead: true,
})

interface TableProps<Item> {
  /** Completes the label "Table of …". */
  of: string
  columns: readonly (Column<Item> | false)[]
  rows: readonly Item[]
  keyOf: (item: Item) => string | number
  class?: string
  rowClass?: (item: Item) => string | undefined
  /** A second row of each item, over all columns. */
  below?: (item: Item) => ComponentChildren
}

export function Table<Item>({ of, columns, rows, keyOf, class: kind = '', rowClass, below }: TableProps<Item>) {
  const shown = columns.filter((each) => each !== false)
  const isFixed = shown.some(({ width }) => width !== undefined)
  // The style sheet writes these titles before the cells of a card.
  const titles = Object.fromEntries(
    shown.flatMap(({ title, unseen }, index) => (unseen ? [] : [[`--title-${index + 1}`, JSON.stringify(title)]])),
  )
  const classOf = (...names: (string | false | undefined)[]): string | undefined => names.filter(Boolean).join(' ') || undefined
  return (
    <div class="scroll" tabIndex={0} role="region" aria-label={`Table of ${of}`}>
      <table class={`cards ${isFixed ? 'fixed ' : ''}${kind}`} style={titles}>
        {isFixed && (
          <colgroup>
            {shown.map(({ title, width = 'auto', wideOnly }) => (
              <col key={title} class={classOf(wideOnly && 'wide-only')} style={{ width }} />
            ))}
          </colgroup>
        )}
        <thead>
          <tr>
            {shown.map(({ title, class: look, unseen, wideOnly }) => (
              <th key={title} scope="col" class={classOf(look === 'number' && look, wideOnly && 'wide-only')}>
                {unseen ? <span class="unseen">{title}</span> : title}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.map((item) => (
            <Fragment key={keyOf(item)}>
              <tr class={rowClass?.(item)}>
                {shown.map(({ title, cell, isHead, class: look, hint, wideOnly }) => {
                  const more = { class: classOf(look, wideOnly && 'wide-only'), title: hint?.(item) }
                  if (!isHead)
                    return (
                      <td key={title} {...more}>
                        {cell(item)}
                      </td>
                    )
                  return (
                    <th key={title} scope="row" {...more}>
                      {cell(item)}
                    </th>
                  )
                })}
              </tr>
              {below !== undefined && (
                <tr class="track-row">
                  <td colSpan={shown.length}>{below(item)}</td>
                </tr>
              )}
            </Fragment>
          ))}
        </tbody>
      </table>
    </div>
  )
}

/** The name in the address, '' for the order of the server, its text, and what is largest in the first row. */
export type Orders<Item> = readonly (readonly [name: string, title: string, size?: (item: Item) => number])[]

interface OrderProps {
  href: string
  query: URLSearchParams
  orders: readonly (readonly [name: string, title: string, ...rest: unknown[]])[]
  /** What is put in order. */
  of?: string
}

export function Order({ href, query, orders, of = 'This page' }: OrderProps) {
  const links = orders.map(
    ([name, title]) => [title, hrefWith(href, query, { order: name || undefined }), (query.get('order') ?? '') === name] as const,
  )
  return <Choice label={`Order of ${of.toLowerCase()}`} of={of} links={links} />
}

/** The items in the order of the address. */
export function inOrder<Item>(items: readonly Item[], query: URLSearchParams, orders: Orders<Item>): readonly Item[] {
  const [, , size] = orders.find(([name]) => name === query.get('order')) ?? []
  return size === undefined ? items : items.toSorted((a, b) => size(b) - size(a))
}

interface PagesProps {
  href: string
  query: URLSearchParams
  cursor: string | null
  /** Number of entries on this page. */
  shown: number
}

export function Pages({ href, query, cursor, shown }: PagesProps) {
  if (shown === 0 && cursor === null && !query.has('cursor')) return null
  return (
    <nav class="pages" aria-label="Pagination">
      <span>{count(shown)} on this page</span>
      {query.has('cursor') && <a href={hrefWith(href, query, { cursor: undefined })}>First page</a>}
      {query.has('cursor') && (
        <button type="button" class="link" onClick={() => history.back()}>
          Back
        </button>
      )}
      {cursor !== null && <a href={hrefWith(href, query, { cursor })}>{shown === 0 ? 'Continue search' : 'Next page'}</a>}
    </nav>
  )
}

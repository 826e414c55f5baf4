/** Heat map of a forecast. Each cell can be opened, with the pointer or with the arrow keys and Enter. */
import { useSignal } from '@preact/signals'
import { useRef } from 'preact/hooks'
import { type Cell, count, counted, type Grid, go, instant, isNarrow, levelOf, type Step, scaleOf } from '../model/index.ts'

const levels = 5
/** Sizes in the units of the picture, which shrinks with its place. `every`: columns between two titles. */
const cellPx = { minute: { width: 15, height: 20, every: 5 }, hour: { width: 37, height: 26, every: 1 } } as const
const narrowPx = { minute: { width: 15, height: 22, every: 5 }, hour: { width: 22, height: 22, every: 3 } } as const
const titlePx = 84
const headPx = 20

interface HeatMapProps {
  grid: Grid
  step: Step
  /** Start of the open cell. */
  openMs: number | undefined
  hrefOf: (cell: Cell) => string
}

export function HeatMap({ grid, step, openMs, hrefOf }: HeatMapProps) {
  const { rows, columns, cells } = grid
  const { width, height, every } = (isNarrow.value ? narrowPx : cellPx)[step]
  const scale = scaleOf(cells.map(({ due }) => due))
  const total = cells.reduce((sum, { due }) => sum + due, 0)
  const busiest = cells.reduce((most, cell) => (cell.due > most.due ? cell : most), cells[0] ?? { due: 0, atMs: 0 })
  const size = { width: titlePx + columns * width, height: headPx + rows.length * height }
  const picture = useRef<SVGSVGElement>(null)
  const focused = useSignal<number | undefined>(undefined)
  /** The one cell that Tab reaches. */
  const stop = cells.find(({ atMs }) => atMs === (focused.value ?? openMs)) ?? cells[0]
  const move = (event: KeyboardEvent): void => {
    const next = neighborOf(cells, stop, event.key)
    if (next === undefined) return
    event.preventDefault()
    focused.value = next.atMs
    picture.current?.querySelector<SVGAElement>(`[data-at="${next.atMs}"]`)?.focus()
  }
  const label = `${counted(total, 'occurrence')} in ${cells.length} steps; the busiest has ${count(busiest.due)}, at ${instant(busiest.atMs)}`
  return (
    <svg
      ref={picture}
      class="heat"
      role="group"
      aria-label={label}
      {...size}
      viewBox={`0 0 ${size.width} ${size.height}`}
      onKeyDown={move}
    >
      {Array.from({ length: Math.ceil(columns / every) }, (_, index) => (
        <text key={index} x={titlePx + index * every * width} y={12}>
          {String(index * every).padStart(2, '0')}
        </text>
      ))}
      {rows.map((title, row) => (
        <text key={title} x={0} y={headPx + row * height + height / 2 + 4}>
          {title}
        </text>
      ))}
      {cells.map((cell) => (
        <Square
          key={cell.atMs}
          cell={cell}
          href={hrefOf(cell)}
          level={levelOf(cell.due, scale, levels)}
          open={cell.atMs === openMs}
          reachable={cell === stop}
          place={{ x: titlePx + cell.column * width, y: headPx + cell.row * height, width: width - 2, height: height - 2 }}
        />
      ))}
    </svg>
  )
}

function neighborOf(cells: readonly Cell[], from: Cell | undefined, key: string): Cell | undefined {
  if (from === undefined) return undefined
  const index = cells.indexOf(from)
  const inRow = (row: number) => cells.find((cell) => cell.row === row && cell.column === from.column) ?? from
  const neighbors: Record<string, Cell | undefined> = {
    ...{ ArrowLeft: cells[Math.max(0, index - 1)], ArrowRight: cells[Math.min(cells.length - 1, index + 1)] },
    ...{ ArrowUp: inRow(from.row - 1), ArrowDown: inRow(from.row + 1), Home: cells[0], End: cells.at(-1) },
  }
  return neighbors[key]
}

interface SquareProps {
  cell: Cell
  href: string
  level: number
  open: boolean
  reachable: boolean
  place: { x: number; y: number; width: number; height: number }
}

function Square({ cell: { atMs, due }, href, level, open, reachable, place }: SquareProps) {
  const text = `${instant(atMs)}: ${count(due)}`
  return (
    <a
      href={href}
      data-at={atMs}
      tabIndex={reachable ? 0 : -1}
      aria-label={text}
      aria-current={open ? 'true' : undefined}
      onClick={(event) => {
        if (event.button !== 0 || event.metaKey || event.ctrlKey || event.shiftKey) return
        event.preventDefault()
        go(href)
      }}
    >
      <rect class={`level-${level}`} {...place}>
        <title>{text}</title>
      </rect>
    </a>
  )
}

/** The colors, with the counts of the palest and the darkest. */
export function HeatScale({ grid, zone }: { grid: Grid; zone: string }) {
  const { least, most } = scaleOf(grid.cells.map(({ due }) => due))
  return (
    <p class="scale">
      none
      <span class="steps" aria-hidden="true">
        {Array.from({ length: levels + 1 }, (_, level) => (
          <span key={level} class={`level-${level}`} />
        ))}
      </span>
      {count(least)} to {count(most)} or more · times in {zone}
    </p>
  )
}

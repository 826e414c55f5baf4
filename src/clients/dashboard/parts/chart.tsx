/**
 * A line chart whose values can be read: under the pointer, and with the arrow keys when it has the focus. Charts of one page share the
 * position. Marks are vertical lines with a text.
 */
import { type Signal, useSignal } from '@preact/signals'
import { useEffect, useRef } from 'preact/hooks'
import UPlot from 'uplot'
import { dark, instant } from '../model/index.ts'

export interface Line {
  name: string
  /** Custom property of the style sheet that holds its color. */
  color: string
  /** Fills the area below the line. */
  filled?: boolean
  /** A dot at each value. */
  dots?: boolean
}

export interface ChartMark {
  atMs: number
  text: string
}

interface ChartProps {
  title: string
  /** The current values, as text. */
  now: string
  lines: readonly Line[]
  /** Epoch ms. */
  times: readonly number[]
  values: readonly (readonly (number | null)[])[]
  /** A value in words, and if these are long, those beside the axis. */
  axisWords: (value: number) => string
  axisText?: (value: number) => string
  /** The axis reaches at least this value. */
  atLeast: number
  /** Length of the time axis. Absent: as long as the values reach. */
  rangeMs?: number
  marks?: readonly ChartMark[]
  /** What each time stands for. */
  names?: readonly string[]
}

const heightPx = 168
/** Shortest time span of the axis, so that the first values of a chart are not stretched. */
const spanMsMin = 120_000
/** A mark is named when the pointer is this near. */
const nearPx = 6

export function Chart(props: ChartProps) {
  const { title, now, lines, times, values, axisWords, names } = props
  const container = useRef<HTMLDivElement>(null)
  const chart = useRef<UPlot | undefined>(undefined)
  const current = useRef(props)
  current.current = props
  const index = useSignal<number | null>(null)
  /** Points may be nearer to each other than a pixel, so the cursor does not decide which one the keys have chosen. */
  const isByKeys = useRef(false)
  const data = (): UPlot.AlignedData => [times.map((ms) => ms / 1_000), ...values.map((line) => [...line])] as UPlot.AlignedData

  // uPlot takes the colors only when a chart is created; the data follow below.
  useEffect(() => {
    const element = container.current
    if (element === null) return
    const created = new UPlot(
      optionsOf(element, current, (at) => {
        if (!isByKeys.current) index.value = at
      }),
      data(),
      element,
    )
    chart.current = created
    const watch = new ResizeObserver(() => created.setSize({ width: element.clientWidth, height: heightPx }))
    watch.observe(element)
    return () => {
      watch.disconnect()
      created.destroy()
    }
  }, [dark.value])
  useEffect(() => chart.current?.setData(data()), [times, values, dark.value])

  const shown = index.value === null || index.value >= times.length ? undefined : index.value
  const valueAt = (line: number): string => {
    const value = values[line]?.[shown ?? -1]
    return value === null || value === undefined ? '—' : axisWords(value)
  }
  const note = shown === undefined ? undefined : (names?.[shown] ?? markAt(chart.current, props, times[shown] ?? 0))
  const reading = shown === undefined ? now : readingOf(props, times[shown] ?? 0, valueAt, note)
  return (
    <figure class="chart">
      <Head title={title} lines={lines} read={shown === undefined ? undefined : valueAt} />
      <div
        class="plot"
        ref={container}
        role="slider"
        tabIndex={0}
        aria-label={title}
        aria-valuemin={0}
        aria-valuemax={Math.max(0, times.length - 1)}
        aria-valuenow={shown ?? Math.max(0, times.length - 1)}
        aria-valuetext={reading}
        onKeyDown={(event) => {
          if (chart.current !== undefined && move(event, chart.current, index, times)) isByKeys.current = true
        }}
        onPointerMove={() => {
          isByKeys.current = false
        }}
        onBlur={() => {
          chart.current?.setCursor({ left: -10, top: -10 }, false)
          index.value = null
        }}
      />
      <p class="mark-text" aria-hidden="true">
        {shown !== undefined && <time>{instant(times[shown] ?? 0)}</time>} {note}
      </p>
    </figure>
  )
}

/** The title, and the lines with their values where one is read. */
const Head = ({ title, lines, read }: Pick<ChartProps, 'title' | 'lines'> & { read: ((line: number) => string) | undefined }) => (
  <figcaption>
    {title}
    <span class="legend">
      {lines.map(({ name, color }, line) => (
        <span key={name} class="key" style={{ '--key': `var(--${color})` }}>
          {name} {read !== undefined && <b>{read(line)}</b>}
        </span>
      ))}
    </span>
  </figcaption>
)

const readingOf = ({ lines }: ChartProps, atMs: number, valueAt: (line: number) => string, mark: string | undefined): string =>
  [instant(atMs), ...lines.map(({ name }, line) => `${name} ${valueAt(line)}`), ...(mark === undefined ? [] : [mark])].join(', ')

const steps: Record<string, (index: number, last: number) => number> = {
  ArrowLeft: (index) => index - 1,
  ArrowDown: (index) => index - 1,
  ArrowRight: (index) => index + 1,
  ArrowUp: (index) => index + 1,
  PageDown: (index) => index - 10,
  PageUp: (index) => index + 10,
  Home: () => 0,
  End: (_index, last) => last,
}

function move(event: KeyboardEvent, chart: UPlot, index: Signal<number | null>, times: readonly number[]): boolean {
  const last = times.length - 1
  const step = steps[event.key]
  if (step === undefined || last < 0) return false
  event.preventDefault()
  const to = Math.min(last, Math.max(0, step(index.value ?? last + 1, last)))
  const left = chart.valToPos((times[to] ?? 0) / 1_000, 'x')
  chart.setCursor({ left, top: 0 }, false)
  index.value = to
  return true
}

/** The marks beside this time. */
function markAt(chart: UPlot | undefined, { marks = [] }: ChartProps, atMs: number): string | undefined {
  if (chart === undefined) return undefined
  const at = chart.valToPos(atMs / 1_000, 'x')
  const near = marks.filter((mark) => Math.abs(chart.valToPos(mark.atMs / 1_000, 'x') - at) <= nearPx)
  return near.length === 0 ? undefined : near.map(({ text }) => text).join('; ')
}

function drawMarks(chart: UPlot, marks: readonly ChartMark[], color: string): void {
  const { ctx, bbox } = chart
  ctx.save()
  ctx.strokeStyle = color
  ctx.lineWidth = devicePixelRatio
  ctx.setLineDash([3 * devicePixelRatio, 3 * devicePixelRatio])
  for (const { atMs } of marks) {
    const x = Math.round(chart.valToPos(atMs / 1_000, 'x', true))
    if (x < bbox.left || x > bbox.left + bbox.width) continue
    ctx.beginPath()
    ctx.moveTo(x, bbox.top)
    ctx.lineTo(x, bbox.top + bbox.height)
    ctx.stroke()
  }
  ctx.restore()
}

function optionsOf(
  element: HTMLElement,
  current: { current: ChartProps },
  pointed: (index: number | null) => void,
): UPlot.Options {
  const { lines } = current.current
  const style = getComputedStyle(element)
  const color = (name: string): string => style.getPropertyValue(`--${name}`)
  const axis = {
    stroke: color('ink-soft'),
    font: `11px ${style.fontFamily}`,
    grid: { stroke: color('rule-soft'), width: 1 },
    ticks: { show: false },
  }
  return {
    width: element.clientWidth,
    height: heightPx,
    legend: { show: false },
    cursor: { y: false, drag: { x: false, y: false, setScale: false }, sync: { key: 'page' }, points: { size: 6 } },
    hooks: {
      setCursor: [(chart) => pointed(chart.cursor.idx ?? null)],
      draw: [(chart) => drawMarks(chart, current.current.marks ?? [], color('ink-soft'))],
    },
    padding: [8, 16, 0, 0],
    scales: {
      x: {
        range: (_chart, min, max) => {
          const { rangeMs } = current.current
          return [rangeMs === undefined ? Math.min(min, max - spanMsMin / 1_000) : max - rangeMs / 1_000, max]
        },
      },
      y: { range: (_chart, _min, max) => [0, Math.max(current.current.atLeast, (max ?? 0) * 1.1)] },
    },
    axes: [
      {
        ...axis,
        size: 30,
        space: 90,
        values: (_chart, splits) => splits.map((s) => new Date(s * 1_000).toTimeString().slice(0, s % 60 === 0 ? 5 : 8)),
      },
      {
        ...axis,
        size: 56,
        space: 34,
        values: (_chart, splits) => splits.map((value) => (current.current.axisText ?? current.current.axisWords)(value)),
      },
    ],
    series: [
      {},
      ...lines.map(({ color: name, filled, dots = false }) => ({
        stroke: color(name),
        width: dots ? 1 : 1.5,
        points: { show: dots, size: 4, fill: color(name) },
        ...(filled ? { fill: color(`${name}-soft`) } : {}),
      })),
    ],
  }
}

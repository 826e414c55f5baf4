/** A live line chart. Its last values are its label for screen readers. */
import { useEffect, useRef } from 'preact/hooks'
import UPlot from 'uplot'
import { dark } from '../model/index.ts'

export interface Line {
  name: string
  /** Custom property of the style sheet that holds its color. */
  color: string
  /** Fills the area below the line. */
  filled?: boolean
}

interface ChartProps {
  title: string
  /** The current values, as text. */
  now: string
  lines: readonly Line[]
  /** Epoch ms. */
  times: readonly number[]
  values: readonly (readonly (number | null)[])[]
  axisWords: (value: number) => string
  /** The axis reaches at least this value. */
  atLeast: number
}

const heightPx = 168
/** Shortest time span of the axis, so that the first values of a chart are not stretched. */
const spanMsMin = 120_000

export function Chart({ title, now, lines, times, values, axisWords, atLeast }: ChartProps) {
  const container = useRef<HTMLDivElement>(null)
  const chart = useRef<UPlot | undefined>(undefined)
  const data = (): UPlot.AlignedData => [times.map((ms) => ms / 1_000), ...values.map((line) => [...line])] as UPlot.AlignedData

  // uPlot takes the colors only when a chart is created; the data follow below.
  useEffect(() => {
    const element = container.current
    if (element === null) return
    const created = new UPlot(optionsOf(element, lines, axisWords, atLeast), data(), element)
    chart.current = created
    const watch = new ResizeObserver(() => created.setSize({ width: element.clientWidth, height: heightPx }))
    watch.observe(element)
    return () => {
      watch.disconnect()
      created.destroy()
    }
  }, [dark.value])
  useEffect(() => chart.current?.setData(data()))

  return (
    <figure class="chart">
      <figcaption>
        {title}
        <span class="legend">
          {lines.map(({ name, color }) => (
            <span key={name} class={`key ${color}`}>
              {name}
            </span>
          ))}
        </span>
      </figcaption>
      <div class="plot" ref={container} role="img" aria-label={`${title}: ${now}`} />
    </figure>
  )
}

function optionsOf(
  element: HTMLElement,
  lines: readonly Line[],
  axisWords: (value: number) => string,
  atLeast: number,
): UPlot.Options {
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
    cursor: { show: false },
    padding: [8, 4, 0, 0],
    scales: {
      x: { range: (_chart, min, max) => [Math.min(min, max - spanMsMin / 1_000), max] },
      y: { range: (_chart, _min, max) => [0, Math.max(atLeast, (max ?? 0) * 1.1)] },
    },
    axes: [
      {
        ...axis,
        size: 30,
        space: 90,
        values: (_chart, splits) => splits.map((s) => new Date(s * 1_000).toTimeString().slice(0, s % 60 === 0 ? 5 : 8)),
      },
      { ...axis, size: 56, space: 34, values: (_chart, splits) => splits.map(axisWords) },
    ],
    series: [
      {},
      ...lines.map(({ color: name, filled }) => ({
        stroke: color(name),
        width: 1.5,
        points: { show: false },
        ...(filled ? { fill: color(`${name}-soft`) } : {}),
      })),
    ],
  }
}

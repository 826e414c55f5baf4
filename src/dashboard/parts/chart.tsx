/** A live line chart. For those who cannot see it, its last values are its label. */
import { useEffect, useRef } from 'preact/hooks'
import UPlot from 'uplot'
import { dark } from '../model/index.ts'

export interface Line {
  name: string
  /** Custom property of the style sheet that has its colour. */
  colour: string
  /** Filled to the ground. */
  filled?: boolean
}

interface ChartProps {
  title: string
  /** In words, what the lines show now. */
  now: string
  lines: readonly Line[]
  /** Epoch ms. */
  times: readonly number[]
  values: readonly (readonly (number | null)[])[]
  axisWords: (value: number) => string
  /** The axis reaches at least so far. */
  atLeast: number
}

const heightPx = 168
/** A chart that has just begun is not drawn wider than so. */
const spanMsMin = 120_000

export function Chart({ title, now, lines, times, values, axisWords, atLeast }: ChartProps) {
  const place = useRef<HTMLDivElement>(null)
  const chart = useRef<UPlot | undefined>(undefined)
  const data = (): UPlot.AlignedData => [times.map((ms) => ms / 1_000), ...values.map((line) => [...line])] as UPlot.AlignedData

  // Colours are fixed when a chart is made; the rest is given below.
  useEffect(() => {
    const element = place.current
    if (element === null) return
    const made = new UPlot(optionsOf(element, lines, axisWords, atLeast), data(), element)
    chart.current = made
    const watch = new ResizeObserver(() => made.setSize({ width: element.clientWidth, height: heightPx }))
    watch.observe(element)
    return () => {
      watch.disconnect()
      made.destroy()
    }
  }, [dark.value])
  useEffect(() => chart.current?.setData(data()))

  return (
    <figure class="chart">
      <figcaption>
        {title}
        <span class="legend">
          {lines.map(({ name, colour }) => (
            <span key={name} class={`key ${colour}`}>
              {name}
            </span>
          ))}
        </span>
      </figcaption>
      <div class="plot" ref={place} role="img" aria-label={`${title}: ${now}`} />
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
  const colour = (name: string): string => style.getPropertyValue(`--${name}`)
  const axis = {
    stroke: colour('ink-soft'),
    font: `11px ${style.fontFamily}`,
    grid: { stroke: colour('rule-soft'), width: 1 },
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
      ...lines.map(({ colour: name, filled }) => ({
        stroke: colour(name),
        width: 1.5,
        points: { show: false },
        ...(filled ? { fill: colour(`${name}-soft`) } : {}),
      })),
    ],
  }
}

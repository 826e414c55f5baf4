/** Results as a table and as a plot. Both come from one file, results.json. */
import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { median } from '../tools/medians.ts'
import { type CaseName, caseNames, cases, type Result } from './cases.ts'
import { type SystemName, systemNames } from './systems/all.ts'

export interface RunResult extends Result {
  case: CaseName
  system: SystemName
  run: number
}

/** What results.json holds. */
export interface Published {
  date: string
  cores: number
  n: number
  seconds: number
  results: RunResult[]
}

const docs = join(import.meta.dirname, '../../docs')
const [tableBegin, tableEnd] = ['<!-- peers: begin -->', '<!-- peers: end -->']

interface Row {
  system: SystemName
  /** By figure: all runs, sorted. */
  values: Record<string, number[]>
  problems: string[]
}

/** The rows of a case, the best system first. */
function rowsOf(results: readonly RunResult[], name: CaseName): Row[] {
  const { figures, isRate } = cases[name]
  const rows = systemNames.flatMap((system): Row[] => {
    const runs = results.filter((result) => result.case === name && result.system === system)
    if (runs.length === 0) return []
    const valuesOf = (figure: string) => runs.map((run) => run.figures[figure] ?? 0).sort((left, right) => left - right)
    const values = Object.fromEntries(Object.keys(figures).map((figure) => [figure, valuesOf(figure)]))
    return [{ system, values, problems: runs.flatMap(({ problems }) => problems) }]
  })
  const main = Object.keys(figures)[0] ?? ''
  const mainOf = (row: Row): number => median(row.values[main] ?? [])
  return rows.sort((left, right) => (isRate ? mainOf(right) - mainOf(left) : mainOf(left) - mainOf(right)))
}

/** Markdown: the median of each figure, and all runs in brackets. */
export function tableOf(results: readonly RunResult[]): string {
  const lines = ['| Case | System | Figures: median (lowest to highest) | Lost, duplicate, early |', '|---|---|---|---|']
  for (const name of caseNames)
    for (const { system, values, problems } of rowsOf(results, name)) {
      const units: Record<string, string> = cases[name].figures
      const texts = Object.entries(values).map(([figure, all]) => {
        const label = figure.startsWith('p') ? `${figure} ` : ''
        return `${label}${format(median(all))} ${units[figure]} (${format(all[0] ?? 0)} to ${format(all.at(-1) ?? 0)})`
      })
      lines.push(`| \`${name}\` | ${system} | ${texts.join('; ')} | ${problems.length === 0 ? 'none' : problems.join('; ')} |`)
    }
  return lines.join('\n')
}

export async function publish(published: Published): Promise<void> {
  await writeFile(join(import.meta.dirname, 'results.json'), `${JSON.stringify(published, undefined, 1)}\n`)
  await writeFile(join(docs, 'peers.svg'), plotOf(published))
  const path = join(docs, 'BENCHMARKS.md')
  const text = await readFile(path, 'utf8')
  const [begin, end] = [text.indexOf(tableBegin), text.indexOf(tableEnd)]
  if (begin < 0 || end < begin) throw new Error(`${path} lacks the lines ${tableBegin} and ${tableEnd}.`)
  await writeFile(path, `${text.slice(0, begin)}${tableBegin}\n${tableOf(published.results)}\n${text.slice(end)}`)
}

const [width, labelWidth, barHeight, gap] = [720, 150, 16, 6]

/** One group of bars for each case. Lengths are logarithmic where the systems differ by more than a factor of ten. */
export function plotOf({ date, cores, results }: Pick<Published, 'date' | 'cores' | 'results'>): string {
  const parts: string[] = []
  let y = 28
  for (const name of caseNames) {
    const rows = rowsOf(results, name)
    if (rows.length === 0) continue
    const { figures, isRate } = cases[name]
    const [main = '', unit = ''] = Object.entries(figures as Record<string, string>)[0] ?? []
    const values = rows.map((row) => median(row.values[main] ?? []))
    const [least, most] = [Math.min(...values), Math.max(...values)]
    const isLogarithmic = most > 10 * least
    const lengthOf = (value: number): number =>
      Math.max(
        2,
        (width - labelWidth - 110) *
          (isLogarithmic ? Math.log(value / (least / 2)) / Math.log(most / (least / 2)) : value / most),
      )
    const what = main.startsWith('p') ? `${main}, ${unit}` : unit
    const note = `${what}; ${isRate ? 'more' : 'less'} is better${isLogarithmic ? '; logarithmic' : ''}`
    parts.push(`<text x="0" y="${y}" class="case">${name} <tspan class="note">${note}</tspan></text>`)
    y += 8
    rows.forEach(({ system }, index) => {
      const value = values[index] ?? 0
      const length = lengthOf(value)
      const isOurs = system === 'Duelog'
      parts.push(
        `<text x="${labelWidth - 8}" y="${y + barHeight - 4}" class="label" text-anchor="end">${system}</text>`,
        `<rect x="${labelWidth}" y="${y}" width="${length.toFixed(1)}" height="${barHeight}" class="${isOurs ? 'ours' : 'bar'}"/>`,
        `<text x="${labelWidth + length + 6}" y="${y + barHeight - 4}" class="label">${format(value)}</text>`,
      )
      y += barHeight + gap
    })
    y += 24
  }
  const style =
    'text{font:13px system-ui,sans-serif;fill:#5b6572}.case{font-weight:600}.note{font-weight:400;font-size:12px}.bar{fill:#9aa5b1}.ours{fill:#2f7dd1}'
  return `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${y}" viewBox="0 0 ${width} ${y}" role="img" aria-label="Medians of each system, measured on ${date} with ${cores} cores">
<style>${style}</style>
${parts.join('\n')}
</svg>
`
}

const format = (value: number): string =>
  value >= 100 ? Math.round(value).toLocaleString('en-US') : String(Number(value.toPrecision(3)))

/** Tables and colors. Colors are used only on a terminal, and never when NO_COLOR is set. */
import { styleText } from 'node:util'
import Table from 'cli-table3'
import { writeJson } from '../../../../streams/text/index.ts'
import type { Output, Terminal } from './terminal.ts'

type Color = 'green' | 'yellow' | 'red' | 'dim' | 'bold' | 'cyan'

/** Colors a text, or returns it as one line without color. */
export type Paint = (color: Color, text: string) => string

/** A cell of a table. A string may come from anywhere, and is shown as one line. `shown` has passed oneLine, and may have colors. */
export type Cell = string | { shown: string }

export function painterOf(output: Output, env: Terminal['env']): Paint {
  const colored = output.isTTY === true && (env.NO_COLOR ?? '') === '' && env.TERM !== 'dumb'
  return (color, text) => (colored ? styleText(color, oneLine(text), { validateStream: false }) : oneLine(text))
}

/** Columns without lines, so that other programs can split them. */
export function tableText(head: readonly string[], rows: readonly (readonly Cell[])[], paint: Paint): string {
  const table = new Table({
    head: head.map((name) => paint('bold', name)),
    style: { head: [], border: [], 'padding-left': 0, 'padding-right': 2 },
    chars: noLines,
  })
  table.push(...rows.map((row) => row.map(shownOf)))
  return `${trimmed(table.toString())}\n`
}

/** Names and values, one pair per line. Empty values are left out. */
export function pairsText(pairs: readonly (readonly [string, Cell])[], paint: Paint): string {
  const table = new Table({ style: { head: [], border: [], 'padding-left': 0, 'padding-right': 2 }, chars: noLines })
  table.push(...pairs.filter(([, value]) => value !== '').map(([name, value]) => [paint('dim', name), shownOf(value)]))
  return `${trimmed(table.toString())}\n`
}

const statusColors: Record<string, Color> = {
  ...{ ACTIVE: 'green', SUCCEEDED: 'green', RUNNING: 'cyan', DISPATCHED: 'cyan' },
  ...{ PAUSED: 'yellow', RETRY_WAIT: 'yellow', CANCELLED: 'yellow', SKIPPED: 'yellow', COMPLETED: 'dim' },
  ...{ INVALID: 'red', FAILED: 'red', EXPIRED: 'red', DEAD: 'red' },
}

/** `words`: what is shown in place of the status. */
export function statusText(status: string, paint: Paint, words = status): string {
  const color = statusColors[status]
  return color === undefined ? oneLine(words) : paint(color, words)
}

export const statusCell = (status: string, paint: Paint): Cell => ({ shown: statusText(status, paint) })

export const numberText = (value: number): string => value.toLocaleString('en-US')

export const countText = (count: number, what: string): string => `${numberText(count)} ${what}`

/** Control characters, and those that turn the direction of text. */
const controls = /[\u0000-\u001f\u007f-\u009f\u061c\u200e\u200f\u2028\u2029\u202a-\u202e\u2066-\u2069]/g

/** Replaces characters by which a name or a message could control the terminal. Everything that others wrote passes it before it is shown. */
export const oneLine = (text: string): string => text.replace(controls, ' ')

/** The same for a text of several lines. */
export const severalLines = (text: string): string => text.split('\n').map(oneLine).join('\n')

/**
 * A value as JSON. On a terminal, and in what people read, control characters are escapes: JSON leaves some of them as they are. Programs
 * and files get it as it is.
 */
export function jsonText(value: unknown, output: Output, indent = 0, isForPeople = output.isTTY === true): string {
  const text = writeJson(value, indent)
  if (!isForPeople) return `${text}\n`
  const escaped = (found: string): string => (found === '\n' ? found : `\\u${found.charCodeAt(0).toString(16).padStart(4, '0')}`)
  return `${text.replace(controls, escaped)}\n`
}

export const writeAsJson = (output: Output, value: unknown): void => void output.write(jsonText(value, output))

const shownOf = (cell: Cell): string => (typeof cell === 'string' ? oneLine(cell) : cell.shown)

function trimmed(text: string): string {
  return text
    .split('\n')
    .map((line) => line.trimEnd())
    .join('\n')
}

const noLines = Object.fromEntries(
  ['top', 'bottom', 'left', 'right', 'mid', 'middle']
    .flatMap((name) => [name, `${name}-mid`, `${name}-left`, `${name}-right`, `left-mid`, `mid-mid`, `right-mid`])
    .map((name) => [name, '']),
)

/** Tables and colors. Colors are used only on a terminal, and never when NO_COLOR is set. */
import { styleText } from 'node:util'
import Table from 'cli-table3'
import type { Output, Terminal } from './terminal.ts'

type Color = 'green' | 'yellow' | 'red' | 'dim' | 'bold' | 'cyan'

/** Colors a text, or returns it unchanged. */
export type Paint = (color: Color, text: string) => string

export function painterOf(output: Output, env: Terminal['env']): Paint {
  const colored = output.isTTY === true && (env.NO_COLOR ?? '') === '' && env.TERM !== 'dumb'
  return (color, text) => (colored ? styleText(color, text, { validateStream: false }) : text)
}

/** Columns without lines, so that other programs can split them. */
export function tableText(head: readonly string[], rows: readonly (readonly string[])[], paint: Paint): string {
  const table = new Table({
    head: head.map((name) => paint('bold', name)),
    style: { head: [], border: [], 'padding-left': 0, 'padding-right': 2 },
    chars: noLines,
  })
  table.push(...rows.map((row) => row.map(oneLine)))
  return `${trimmed(table.toString())}\n`
}

/** Names and values, one pair per line. Empty values are left out. */
export function pairsText(pairs: readonly (readonly [string, string])[], paint: Paint): string {
  const table = new Table({ style: { head: [], border: [], 'padding-left': 0, 'padding-right': 2 }, chars: noLines })
  table.push(...pairs.filter(([, value]) => value !== '').map(([name, value]) => [paint('dim', name), oneLine(value)]))
  return `${trimmed(table.toString())}\n`
}

const statusColors: Record<string, Color> = {
  ...{ ACTIVE: 'green', SUCCEEDED: 'green', RUNNING: 'cyan', DISPATCHED: 'cyan' },
  ...{ PAUSED: 'yellow', RETRY_WAIT: 'yellow', CANCELLED: 'yellow', SKIPPED: 'yellow', COMPLETED: 'dim' },
  ...{ INVALID: 'red', FAILED: 'red', EXPIRED: 'red', DEAD: 'red' },
}

export function statusText(status: string, paint: Paint): string {
  const color = statusColors[status]
  return color === undefined ? status : paint(color, status)
}

export const numberText = (value: number): string => value.toLocaleString('en-US')

/** Replaces control characters and those that turn the direction of text, so that a name or a message cannot control the terminal. */
export function oneLine(text: string): string {
  return text.replace(/\u001b(?!\[\d+m)|[\u0000-\u001a\u001c-\u001f\u007f-\u009f\u200e\u200f\u202a-\u202e\u2066-\u2069]/g, ' ')
}

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

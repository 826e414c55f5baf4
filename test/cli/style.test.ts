import { expect, it } from 'vitest'
import { showProgress } from '../../src/program/cli/terminal/long-work.ts'
import {
  jsonText,
  oneLine,
  painterOf,
  pairsText,
  severalLines,
  statusCell,
  tableText,
} from '../../src/program/cli/terminal/style.ts'

const terminal = { write: () => {}, isTTY: true }
const plain = painterOf({ write: () => {} }, {})

it('uses colors only on a terminal, and never when NO_COLOR is set', () => {
  expect(painterOf(terminal, {})('red', 'x')).toBe('\u001b[31mx\u001b[39m')
  expect(painterOf(terminal, { NO_COLOR: '1' })('red', 'x')).toBe('x')
  expect(painterOf(terminal, { TERM: 'dumb' })('red', 'x')).toBe('x')
  expect(plain('red', 'x')).toBe('x')
})

it('makes tables that other programs can split, without trailing blanks', () => {
  expect(
    tableText(
      ['ID', 'STATUS'],
      [
        ['a', 'ACTIVE'],
        ['longer', ''],
      ],
      plain,
    ),
  ).toBe('ID      STATUS\na       ACTIVE\nlonger\n')
  expect(
    pairsText(
      [
        ['id', 'a'],
        ['reason', ''],
        ['status', 'ACTIVE'],
      ],
      plain,
    ),
  ).toBe('id      a\nstatus  ACTIVE\n')
})

it('keeps texts of jobs from controlling the terminal', () => {
  expect(oneLine('a\u001b]0;title\u0007b\u001b[2Jc\rd\ne\u009b5mf')).not.toMatch(/[\u0000-\u001f\u0080-\u009f]/)
  expect(oneLine('evil\u202etxt\u2066')).toBe('evil txt ')
  expect(oneLine('\u001b[31mred\u001b[39m')).toBe(' [31mred [39m')
  expect(severalLines('a\u001b[2J\nb\r')).toBe('a [2J\nb ')
  expect(tableText(['ID'], [['a\u001b[2J\nb']], plain)).toBe('ID\na [2J b\n')
})

it('colors what the program says, and nothing that others say', () => {
  const paint = painterOf(terminal, {})
  const row = [statusCell('DEAD', paint), '\u001b[32mACTIVE\u001b[39m', statusCell('\u001b[32mNEW', paint)]
  const head = '\u001b[1mA\u001b[22m     \u001b[1mB\u001b[22m                 \u001b[1mC\u001b[22m'
  expect(tableText(['A', 'B', 'C'], [row], paint)).toBe(`${head}\n\u001b[31mDEAD\u001b[39m   [32mACTIVE [39m   [32mNEW\n`)
  expect(paint('red', 'a\u001b[2Jb')).toBe('\u001b[31ma [2Jb\u001b[39m')
})

it('JSON has escapes on a terminal, and is unchanged for programs', () => {
  const value = { text: '\u001b[2J \u009b2J \u202e' }
  const shown = jsonText(value, terminal)
  expect(shown).toBe('{"text":"\\u001b[2J \\u009b2J \\u202e"}\n')
  expect(JSON.parse(shown)).toEqual(value)
  expect(jsonText(value, { write: () => {} })).toBe(`${JSON.stringify(value)}\n`)
})

it('shows no progress without a terminal', () => {
  const written: string[] = []
  const progress = showProgress({ stderr: { write: (text) => written.push(text) } }, 10)
  progress.update(5, 'half')
  progress.stop()
  expect(written).toEqual([])
})

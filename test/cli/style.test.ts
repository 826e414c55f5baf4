import { expect, it } from 'vitest'
import { showProgress } from '../../src/cli/terminal/progress.ts'
import { oneLine, painterOf, pairsText, tableText } from '../../src/cli/terminal/style.ts'

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
  expect(oneLine('\u001b[31mred\u001b[39m')).toBe('\u001b[31mred\u001b[39m')
  expect(tableText(['ID'], [['a\u001b[2J\nb']], plain)).toBe('ID\na [2J b\n')
})

it('shows no progress without a terminal', () => {
  const written: string[] = []
  const progress = showProgress({ stderr: { write: (text) => written.push(text) } }, 10)
  progress.update(5, 'half')
  progress.stop()
  expect(written).toEqual([])
})

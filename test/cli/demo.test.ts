import { expect, it } from 'vitest'
import { firstLines } from '../../src/program/cli/commands/demo-command.ts'

it('shows the first lines and says once that there were more', () => {
  const written: string[] = []
  const lines = firstLines({ write: (text) => written.push(text) }, 2)
  for (const line of ['a\n', 'b\n', 'c\n', 'd\n']) lines.write(line)
  expect(written).toEqual(['a\n', 'b\n', 'Further errors are not shown.\n'])
})

/** A log for a screen that shows something else: its first lines, for where one thing fails, thousands may. */
import type { Output } from '../terminal/index.ts'

export function firstLines(output: Output, linesMax: number): { write(line: string): void } {
  let lines = 0
  return {
    write(line) {
      lines++
      if (lines <= linesMax) output.write(line)
      else if (lines === linesMax + 1) output.write('Further errors are not shown.\n')
    },
  }
}

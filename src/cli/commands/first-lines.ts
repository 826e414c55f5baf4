/** Output that shows only the first lines of a log, because one failure may cause thousands of lines. */
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

/** A bar on standard error while long work goes on; nothing where that is no terminal. */
import { SingleBar } from 'cli-progress'
import { numberText } from './style.ts'
import type { Terminal } from './terminal.ts'

export interface Progress {
  /** `text` stands beside the bar. */
  update(done: number, text: string): void
  stop(): void
}

/** What stands beside the bar, at its widest. */
const besideBarChars = 48

/** `total` is in the unit of `done`; undefined where the end is not known: then only the text is shown. */
export function showProgress({ stderr }: Pick<Terminal, 'stderr'>, total: number | undefined): Progress {
  if (stderr.isTTY !== true) return { update: () => {}, stop: () => {} }
  const bar = new SingleBar({
    stream: stderr as NodeJS.WriteStream,
    format: total === undefined ? '{text}' : '{bar} {percentage}% {text}',
    barsize: Math.min(40, Math.max(10, (stderr.columns ?? 80) - besideBarChars)),
    barCompleteChar: '█',
    barIncompleteChar: '░',
    hideCursor: true,
    linewrap: false,
    gracefulExit: false,
    clearOnComplete: true,
  })
  bar.start(total ?? 1, 0, { text: '' })
  return {
    update: (done, text) => bar.update(total === undefined ? 0 : Math.min(done, total), { text }),
    stop: () => bar.stop(),
  }
}

export const countText = (count: number, what: string): string => `${numberText(count)} ${what}`

/** Progress bar on standard error; nothing is shown when that is not a terminal. */
import { SingleBar } from 'cli-progress'
import { numberText } from './style.ts'
import type { Terminal } from './terminal.ts'

export interface Progress {
  /** `text` is shown beside the bar. */
  update(done: number, text: string): void
  stop(): void
}

/** Maximum width of the text beside the bar. */
const besideBarChars = 48

/** `total` is in the unit of `done`. Without it only the text is shown. */
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

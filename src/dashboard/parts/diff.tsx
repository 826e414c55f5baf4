/** The difference of two texts by lines. Lines that stay are shown only beside a change. */
import { useMemo } from 'preact/hooks'
import { count, type DiffLine, lineDiff } from '../model/index.ts'

const signs = { same: ' ', added: '+', removed: '−' } as const
const words = { same: '', added: 'added: ', removed: 'removed: ' } as const
/** Lines that are shown before and after a change. */
const around = 3
/** Longest difference that is shown, in lines. */
const linesMax = 2_000

export function Diff({ before, after, label }: { before: string; after: string; label: string }) {
  const lines = useMemo(() => shortened(lineDiff(before, after)), [before, after])
  return (
    <pre class="diff" tabIndex={0} role="region" aria-label={label}>
      {lines.slice(0, linesMax).map((line, index) =>
        typeof line === 'number' ? (
          <span key={index} class="gap">
            {`… ${count(line)} unchanged ${line === 1 ? 'line' : 'lines'}\n`}
          </span>
        ) : (
          <span key={index} class={line.kind}>
            <span aria-hidden="true">{signs[line.kind]} </span>
            <span class="unseen">{words[line.kind]}</span>
            {`${line.text}\n`}
          </span>
        ),
      )}
      {lines.length > linesMax && <span class="gap">{`… ${count(lines.length - linesMax)} more lines\n`}</span>}
    </pre>
  )
}

/** A number stands for so many lines that stay. */
function shortened(lines: readonly DiffLine[]): (DiffLine | number)[] {
  const near = new Set<number>()
  for (const [index, { kind }] of lines.entries())
    if (kind !== 'same') for (let at = index - around; at <= index + around; at++) near.add(at)
  const shown: (DiffLine | number)[] = []
  for (const [index, line] of lines.entries()) {
    const last = shown.at(-1)
    if (near.has(index)) shown.push(line)
    else if (typeof last === 'number') shown[shown.length - 1] = last + 1
    else shown.push(1)
  }
  return shown
}

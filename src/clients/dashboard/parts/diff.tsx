/** The difference of two texts by lines, and what to do when another person saved the job while it was edited. */
import { type ReadonlySignal, type Signal, useSignal } from '@preact/signals'
import { useMemo } from 'preact/hooks'
import { count, type DiffLine, type JobDefinition, lineDiff, mergeInto, setTo } from '../model/index.ts'
import { definitionOf } from './definition-check.ts'
import { Modal } from './modal.tsx'

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

interface ChangedByOtherProps {
  text: ReadonlySignal<string>
  /** The text that the edit began with. */
  base: ReadonlySignal<string>
  /** The text of the definition in force. */
  theirs: string
  /** Undefined while the text cannot be read. */
  mine: JobDefinition | undefined
  /** Continues with another text, against the definition in force. */
  begin: (text: string) => void
  reviewing: Signal<boolean>
}

/** Another person saved the job while it was edited: what they changed, and the ways on. */
export function ChangedByOther({ text, base, theirs, mine, begin, reviewing }: ChangedByOtherProps) {
  const asking = useSignal(false)
  const merged = useMemo(() => {
    const before = definitionOf(base.value)
    return mine === undefined || before === undefined ? undefined : mergeInto(theirs, before, mine, definitionOf(theirs))
  }, [theirs, base.value, mine])
  const continueWith = (next: string): void => {
    asking.value = false
    begin(next)
  }
  return (
    <div class="conflict" role="alert">
      <p class="warn">Someone else saved this job meanwhile. Compare, then save again.</p>
      <details>
        <summary>What they changed</summary>
        <Diff before={base.value} after={theirs} label="What they changed" />
      </details>
      {merged !== undefined && merged.both.length > 0 && (
        <p>
          You both changed <span class="code">{merged.both.join(', ')}</span>. Your value would replace theirs.
        </p>
      )}
      <div class="buttons">
        <button
          type="button"
          disabled={merged === undefined}
          onClick={() => {
            continueWith(merged?.text ?? theirs)
            reviewing.value = true
          }}
        >
          Apply my changes to the present definition
        </button>
        <button type="button" onClick={() => setTo(asking, true)}>
          Begin again from the present definition
        </button>
      </div>
      {merged === undefined && <p>Correct the JSON to apply your changes.</p>}
      {asking.value && (
        <Modal title="Discard your changes?" close={() => setTo(asking, false)}>
          <p>These lines of yours are lost. The editor then shows the definition in force.</p>
          <Diff before={text.value} after={theirs} label="From your text to the definition in force" />
          <div class="buttons end">
            <button type="button" onClick={() => setTo(asking, false)}>
              Keep editing
            </button>
            <button type="button" class="danger" onClick={() => continueWith(theirs)}>
              Discard and begin again
            </button>
          </div>
        </Modal>
      )}
    </div>
  )
}

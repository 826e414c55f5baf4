/** Another person saved the job while it was edited: what they changed, and the ways on. */
import { type ReadonlySignal, type Signal, useSignal } from '@preact/signals'
import { useMemo } from 'preact/hooks'
import { type JobDefinition, mergeInto } from '../model/index.ts'
import { definitionOf } from './definition-check.ts'
import { Diff } from './diff.tsx'
import { Modal } from './modal.tsx'

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
        <button
          type="button"
          onClick={() => {
            asking.value = true
          }}
        >
          Begin again from the present definition
        </button>
      </div>
      {merged === undefined && <p>Correct the JSON to apply your changes.</p>}
      {asking.value && (
        <Modal
          title="Discard your changes?"
          close={() => {
            asking.value = false
          }}
        >
          <p>These lines of yours are lost. The editor then shows the definition in force.</p>
          <Diff before={text.value} after={theirs} label="From your text to the definition in force" />
          <div class="buttons end">
            <button
              type="button"
              onClick={() => {
                asking.value = false
              }}
            >
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

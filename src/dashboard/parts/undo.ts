/** Undo and redo of an editor by keyboard, whether the text or the form made a change. */
import { type Signal, useSignalEffect } from '@preact/signals'
import { useMemo } from 'preact/hooks'
import { TextHistory, type UndoStep } from '../model/index.ts'

/** Undefined: there is nothing to undo, or to redo. */
export type Undo = (isRedo: boolean) => UndoStep | undefined

/** It knows each change of the text from now on. */
export function useUndo(text: Signal<string>): Undo {
  const history = useMemo(() => new TextHistory(text.peek()), [text])
  useSignalEffect(() => history.note(text.value, performance.now()))
  return (isRedo) => {
    // Effects run with the next frame. A key may be faster.
    history.note(text.peek(), performance.now())
    const step = isRedo ? history.redo() : history.undo()
    if (step !== undefined) text.value = step.text
    return step
  }
}

/** The key asks for undo (false) or redo (true), or neither. */
export function undoKeyOf(event: KeyboardEvent): boolean | undefined {
  if (!(event.ctrlKey || event.metaKey) || event.altKey || event.isComposing) return undefined
  const key = event.key.toLowerCase()
  if (key === 'z') return event.shiftKey
  return key === 'y' && !event.shiftKey && event.ctrlKey ? true : undefined
}

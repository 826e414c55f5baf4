import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { lineDiff, TextHistory } from '../../src/clients/dashboard/model/text-history.ts'

describe('the history of a text', () => {
  it('undoes every change back to the first text, and makes all of them again', () => {
    const text = fc.string({ unit: fc.constantFrom('a', 'b', '\n', '😀'), maxLength: 12 })
    const steps = fc.array(fc.record({ text, afterMs: fc.constantFrom(0, 500, 5_000) }), { maxLength: 20 })
    fc.assert(
      fc.property(text, steps, (first, changes) => {
        const history = new TextHistory(first)
        let nowMs = 0
        for (const change of changes) {
          nowMs += change.afterMs
          history.note(change.text, nowMs)
        }
        const last = changes.at(-1)?.text ?? first
        const back: string[] = []
        for (let step = history.undo(); step !== undefined; step = history.undo()) back.push(step.text)
        expect(back.at(-1) ?? last).toBe(first)
        const again: string[] = []
        for (let step = history.redo(); step !== undefined; step = history.redo()) again.push(step.text)
        expect(again.at(-1) ?? first).toBe(last)
        expect(again).toHaveLength(back.length)
        // An undone change was a change of the page, which is no new one.
        history.note(last, nowMs)
        expect(history.redo()).toBeUndefined()
      }),
      { numRuns: 500 },
    )
  })

  it('takes keys that follow each other for one change, and a pause, another place or a line break for the next', () => {
    const history = new TextHistory('x')
    const undone = (): (string | undefined)[] => {
      const all: (string | undefined)[] = []
      for (let step = history.undo(); step !== undefined; step = history.undo()) all.push(step.text)
      return all
    }
    for (const [index, text] of ['xa', 'xab', 'xabc', 'xab'].entries()) history.note(text, index * 900)
    expect(undone()).toEqual(['x'])
    history.note('xa', 10_000)
    history.note('xab', 12_000)
    history.note('-xab', 12_100)
    history.note('-xab\n', 12_200)
    expect(undone()).toEqual(['-xab', 'xab', 'xa', 'x'])
    for (const [index, text] of ['y12', 'y1', 'y', ''].entries()) history.note(text, 20_000 + index * 1_500)
    expect(undone()).toEqual(['y', 'y1', 'y12', 'x'])
    history.note('abcd', 30_000)
    for (const text of ['abc', 'ab', 'a']) history.note(text, 32_000)
    expect(undone()).toEqual(['abcd', 'x'])
  })

  it('puts the caret behind what came back, and forgets what was undone when the text changes', () => {
    const history = new TextHistory('one two')
    history.note('one', 0)
    expect(history.undo()).toEqual({ text: 'one two', caret: 7 })
    history.note('one 2', 10_000)
    expect(history.redo()).toBeUndefined()
    expect(history.undo()).toEqual({ text: 'one two', caret: 7 })
  })

  it('keeps a bounded number of changes, the newest ones', () => {
    const history = new TextHistory('')
    for (let index = 1; index <= 700; index++) history.note(String(index), index * 10_000)
    const all: string[] = []
    for (let step = history.undo(); step !== undefined; step = history.undo()) all.push(step.text)
    expect(all).toHaveLength(500)
    expect(all.at(-1)).toBe('200')
    const large = new TextHistory('')
    for (let index = 0; index < 5; index++) large.note(String(index).repeat(900_000), index * 10_000)
    expect(large.undo()?.text).toBe('3'.repeat(900_000))
    expect(large.undo()?.text).toBe('2'.repeat(900_000))
    expect(large.undo()).toBeUndefined()
  })
})

describe('the difference of two texts', () => {
  it('shows removed lines before added lines', () => {
    expect(lineDiff('a\nb\nc', 'a\nB\nc').map(({ kind, text }) => `${kind} ${text}`)).toEqual([
      'same a',
      'removed b',
      'added B',
      'same c',
    ])
  })

  it('contains both complete texts, whatever they are', () => {
    const text = fc.array(fc.constantFrom('a', 'b', 'c', ''), { minLength: 1, maxLength: 12 }).map((lines) => lines.join('\n'))
    fc.assert(
      fc.property(text, text, (before, after) => {
        const lines = lineDiff(before, after)
        const without = (kind: string): string =>
          lines
            .filter((line) => line.kind !== kind)
            .map((line) => line.text)
            .join('\n')
        expect([without('added'), without('removed')]).toEqual([before, after])
      }),
    )
  })
})

import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { lineDiff } from '../../src/dashboard/model/line-diff.ts'

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

/** Contexts of headers, whatever somebody wrote there. */
import { expect, test } from 'vitest'
import { traceContextBytesMax, traceContextOf } from '../../../streams/text/index.ts'

const traceparent = '00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01'

test('a context is read from text and from bytes', () => {
  expect(traceContextOf({ traceparent })).toEqual({ traceparent })
  const tracestate = 'congo=t61rcWkgMzE,rojo=00f067aa0ba902b7'
  expect(traceContextOf({ traceparent: Buffer.from(traceparent), tracestate: Buffer.from(tracestate) })).toEqual({
    traceparent,
    tracestate,
  })
  // A later version may have more fields.
  expect(traceContextOf({ traceparent: `${traceparent.replace('00', '01')}-more` })).toEqual({
    traceparent: traceparent.replace('00', '01'),
  })
})

test('what is no context is none', () => {
  const wrong = [
    ...[
      '',
      '00',
      'Bearer abc',
      traceparent.toUpperCase(),
      ` ${traceparent}`,
      `${traceparent} `,
      `${traceparent}-more`,
      `${traceparent}\n`,
    ],
    ...[traceparent.replace('00-', 'ff-'), `${traceparent.replace('00', '01')}more`, traceparent.replace('-01', '-0g')],
    ...[
      traceparent.replace(/4bf92f3577b34da6a3ce929d0e0e4736/, '0'.repeat(32)),
      traceparent.replace('00f067aa0ba902b7', '0'.repeat(16)),
    ],
    'x'.repeat(1_000_000),
  ]
  for (const text of wrong) {
    expect(traceContextOf({ traceparent: text }), text.slice(0, 80)).toBeUndefined()
    expect(traceContextOf({ traceparent: Buffer.from(text) }), text.slice(0, 80)).toBeUndefined()
  }
  expect(traceContextOf({})).toBeUndefined()
  expect(traceContextOf({ tracestate: 'a=b' })).toBeUndefined()
})

test('a state over a limit, or with characters that no header may have, is left out; the rest counts', () => {
  const members = Array.from({ length: 33 }, (_, at) => `k${at}=v`).join(',')
  for (const tracestate of ['x'.repeat(513), members, 'a=b\nc=d', 'a=ü', ''])
    expect(traceContextOf({ traceparent, tracestate }), tracestate.slice(0, 20)).toEqual({ traceparent })
  const longest = { traceparent, tracestate: `a=${'x'.repeat(510)}` }
  expect(traceContextOf(longest)).toEqual(longest)
  const bytes = Object.entries(longest).reduce((sum, [name, value]) => sum + 10 + name.length + value.length, 0)
  expect(bytes).toBeLessThanOrEqual(traceContextBytesMax)
})

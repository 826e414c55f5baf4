/** Tokens for the brokers: held, renewed in time, asked for once, and used on while the provider is away. */
import { expect, test } from 'vitest'
import { BearerTokens, type IssuedToken } from '../../../src/log/kafka/client/client-credentials.ts'

/** A provider that numbers its tokens, at a time that the test moves. */
function newTokens(livesMs: number) {
  const world = { nowMs: 0, asked: 0, away: undefined as Error | undefined, late: [] as unknown[], hold: Promise.resolve() }
  const tokens = new BearerTokens({
    ask: async (): Promise<IssuedToken> => {
      world.asked++
      await world.hold
      if (world.away !== undefined) throw world.away
      return { value: `t${world.asked}`, livesMs }
    },
    onLate: (error) => world.late.push(error),
    nowMs: () => world.nowMs,
  })
  return { world, tokens }
}

test('a token is used for four fifths of its life, and never in its last 15 s', async () => {
  for (const [livesMs, renewedAtMs] of [
    [300_000, 240_000],
    [60_000, 45_000],
  ] as const) {
    const { world, tokens } = newTokens(livesMs)
    expect(await tokens.token()).toBe('t1')
    world.nowMs = renewedAtMs - 1
    expect(await tokens.token()).toBe('t1')
    world.nowMs = renewedAtMs
    expect(await tokens.token()).toBe('t2')
  }
})

test('a token that lives for 15 s serves one sign-in', async () => {
  const { tokens } = newTokens(15_000)
  expect([await tokens.token(), await tokens.token()]).toEqual(['t1', 't2'])
})

test('connections that need a token at once ask once', async () => {
  const { world, tokens } = newTokens(300_000)
  expect(await Promise.all(Array.from({ length: 20 }, () => tokens.token()))).toEqual(Array(20).fill('t1'))
  expect(world.asked).toBe(1)
})

test('a provider that is away is asked once a second, and the token at hand is used until 15 s before its end', async () => {
  const { world, tokens } = newTokens(300_000)
  await tokens.token()
  world.away = new Error('away')
  world.nowMs = 240_000
  expect([await tokens.token(), await tokens.token()]).toEqual(['t1', 't1'])
  expect([world.asked, world.late]).toEqual([2, [world.away]])
  world.nowMs = 284_999
  expect(await tokens.token()).toBe('t1')
  world.nowMs = 286_000
  await expect(tokens.token()).rejects.toBe(world.away)
  await expect(tokens.token()).rejects.toBe(world.away)
  expect(world.asked).toBe(4)
  world.away = undefined
  world.nowMs += 1_000
  expect(await tokens.token()).toBe('t5')
})

test('a token that a broker refused is not used again', async () => {
  const { tokens } = newTokens(300_000)
  tokens.refused(await tokens.token())
  expect(await tokens.token()).toBe('t2')
  tokens.refused('t1')
  expect(await tokens.token()).toBe('t2')
})

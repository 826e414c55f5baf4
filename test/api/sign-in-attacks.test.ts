/** Guesses at tokens: how many are checked, who is blocked because of them, and what the log says. */
import { Writable } from 'node:stream'
import { pino } from 'pino'
import { describe, expect, it } from 'vitest'
import { DuelogError } from '../../src/ground/errors/errors.ts'
import { SignIns } from '../../src/server/api/guards/sign-ins.ts'
import {
  refusedSignInsInAllMax,
  refusedSignInsInAllPerSecond,
  refusedSignInsMax,
  refusedSignInsPerSecond,
  refusedTokensKeptMs,
  signInsKeptMax,
  signInsLoggedMs,
} from '../../src/server/api/schemas/limits.ts'
import { admin, apiTokens, bearer, type Headers, operator, viewer } from './attackers.ts'
import { createSystem } from './system-in-memory.ts'

const here = '192.0.2.1'

/** A manual clock, and a log that keeps its lines. */
function world() {
  let at = 0
  let task: (() => void) | undefined
  const lines: { level: number; msg: string; refused?: number }[] = []
  const write = (line: string) => void lines.push(JSON.parse(line))
  const clock = {
    nowMs: () => at,
    steadyMs: () => at,
    at: (_atMs: number, wanted: () => void) => {
      task = wanted
      return () => {
        task = undefined
      }
    },
  }
  const pass = (ms: number) => {
    at += ms
  }
  const wake = () => {
    const due = task
    task = undefined
    due?.()
  }
  return { clock, lines, logger: pino({ level: 'info' }, { write }), pass, wake, waits: () => task !== undefined }
}

function guessing() {
  const { clock, logger, ...rest } = world()
  const signIns = new SignIns(clock, logger)
  let looked = 0
  const present = async (token: string, address = here) => {
    try {
      const found = await signIns.judged({ address, token, realm: 'public' }, async () => {
        looked++
        return token.startsWith('right') ? token : undefined
      })
      return found === undefined ? 401 : 200
    } catch (error) {
      expect(error).toMatchObject({ code: 'too-many-requests' })
      return 429
    }
  }
  const guess = async (count: number, address = here, prefix = 'wrong') => {
    const answers = new Map<number, number>()
    for (let index = 0; index < count; index++) {
      const answer = await present(`${prefix}-${index}`, address)
      answers.set(answer, (answers.get(answer) ?? 0) + 1)
    }
    return Object.fromEntries(answers)
  }
  return { ...rest, signIns, present, guess, looked: () => looked }
}

describe('wrong tokens from one address', () => {
  it('are limited also if all come at one moment, and correct tokens are not shut out by them', async () => {
    const { present, looked, pass } = guessing()
    const sent = (count: number, prefix: string) =>
      Promise.all(Array.from({ length: count }, (_, index) => present(`${prefix}-${index}`)))
    expect(new Set(await sent(200, 'right'))).toEqual(new Set([200]))
    const before = looked()
    const answers = await sent(700, 'wrong')
    expect(answers.filter((answer) => answer === 401)).toHaveLength(refusedSignInsMax)
    expect(looked() - before).toBe(refusedSignInsMax)
    pass(2_000 / refusedSignInsPerSecond)
    await sent(700, 'later')
    expect(looked() - before).toBe(refusedSignInsMax + 2)
  })
  it('count once if an old token comes many times at one moment, which leaves room for others', async () => {
    const { present } = guessing()
    const answers = await Promise.all(Array.from({ length: 700 }, () => present('old')))
    expect(new Set(answers)).toEqual(new Set([401]))
    expect(await present('right')).toBe(200)
    for (let index = 1; index < refusedSignInsMax; index++) expect(await present(`wrong-${index}`)).toBe(401)
    expect(await present('one-more')).toBe(429)
  })
  it('that wait for an unreachable provider are answered with the first, and others have their turn', async () => {
    const { signIns } = guessing()
    const away = Promise.withResolvers<undefined>()
    const judged = (token: string, judge: () => Promise<string | undefined>) =>
      signIns.judged({ address: here, token, realm: 'public' }, judge).catch(({ code }: { code: string }) => code)
    let looked = 0
    const look = () => {
      looked++
      return away.promise
    }
    const asked = Array.from({ length: 100 }, (_, index) => judged(`a.b.${index}`, look))
    const other = judged('a-token-of-this-system', async () => 'operator')
    away.reject(new DuelogError('identity-unavailable', 'The keys could not be loaded.'))
    expect(new Set(await Promise.all(asked))).toEqual(new Set(['identity-unavailable']))
    expect(await other).toBe('operator')
    expect(looked).toBe(refusedSignInsMax)
  })
  it('are limited whatever comes after them, and the right token is not among the others', async () => {
    const { guess, present, looked, pass } = guessing()
    expect(await guess(700)).toEqual({ 401: refusedSignInsMax, 429: 700 - refusedSignInsMax })
    expect(looked()).toBe(refusedSignInsMax)
    expect(await present('right-but-guessed')).toBe(429)
    expect(looked()).toBe(refusedSignInsMax)
    pass(10_000)
    expect(await guess(700, here, 'later')).toEqual({
      401: 10 * refusedSignInsPerSecond,
      429: 700 - 10 * refusedSignInsPerSecond,
    })
  })

  it('shut out no caller that is signed in, and none at other addresses', async () => {
    const { guess, present } = guessing()
    expect(await present('right')).toBe(200)
    await guess(700)
    expect(await present('right')).toBe(200)
    expect(await present('right-elsewhere', '192.0.2.2')).toBe(200)
    expect(await present('right', '192.0.2.2')).toBe(200)
  })

  it('shut out no parallel request of a caller that is signed in', async () => {
    const { guess, present } = guessing()
    expect(await present('right')).toBe(200)
    await guess(700)
    expect(await Promise.all(Array.from({ length: 6 }, () => present('right')))).toEqual(Array(6).fill(200))
  })

  it('that are always the same count once, so a client with an old token harms nobody', async () => {
    const { present, looked, pass } = guessing()
    for (let index = 0; index < 700; index++) expect(await present('old')).toBe(401)
    expect(looked()).toBe(1)
    expect(await present('right')).toBe(200)
    pass(refusedTokensKeptMs)
    expect(await present('old')).toBe(401)
    expect(looked()).toBe(3)
  })

  it('are those of its 64-bit network', async () => {
    const { guess } = guessing()
    let looked = 0
    for (let index = 0; index < 100; index++) {
      const answers = await guess(1, `2001:db8:1:2:${index.toString(16)}::7`, `of-${index}`)
      looked += answers[401] ?? 0
    }
    expect(looked).toBe(refusedSignInsMax)
    expect(await guess(1, '2001:db8:1:3::7', 'next')).toEqual({ 401: 1 })
    const mapped = guessing()
    await mapped.guess(700)
    expect(await mapped.present('wrong-mapped', `::ffff:${here}`)).toBe(429)
  })

  it('end the trusted state of a token that is not accepted any more', async () => {
    const { clock, logger } = world()
    const signIns = new SignIns(clock, logger)
    const sign = { address: here, token: 'jwt', realm: 'public' }
    expect(await signIns.judged(sign, async () => 'a')).toBe('a')
    expect(await signIns.judged(sign, async () => undefined)).toBeUndefined()
    for (let index = 0; index < refusedSignInsMax; index++)
      await signIns.judged({ ...sign, token: `${index}` }, async () => undefined)
    await expect(signIns.judged(sign, async () => 'a')).rejects.toMatchObject({ code: 'too-many-requests' })
  })
})

describe('wrong tokens from many addresses', () => {
  it('are limited together, and a caller that is not remembered is checked again', async () => {
    const { present, looked, pass } = guessing()
    expect(await present('right')).toBe(200)
    for (let index = 0; index < 3 * refusedSignInsInAllMax; index++)
      await present(`wrong-${index}`, `10.0.${index >> 8}.${index & 255}`)
    expect(looked()).toBe(1 + refusedSignInsInAllMax)
    expect(await present('right')).toBe(200)
    expect(await present('right-elsewhere', '192.0.2.9')).toBe(429)
    pass(1_000)
    const before = looked()
    for (let index = 0; index < 500; index++) await present(`more-${index}`, `10.1.${index >> 8}.${index & 255}`)
    expect(looked() - before).toBe(refusedSignInsInAllPerSecond)
    pass(3_600_000)
    for (let index = 0; index < signInsKeptMax + 10; index++) await present(`right-${index}`, '192.0.2.3')
    expect(await present('right')).toBe(200)
  })
})

describe('the log', () => {
  it('has one line, then a count once a minute, and a last one when the guessing ends', async () => {
    const { guess, lines, wake, waits, present, signIns } = guessing()
    await guess(700)
    expect(lines).toMatchObject([{ level: 40, address: here }])
    wake()
    expect(lines[1]).toMatchObject({ level: 40, refused: 700 - refusedSignInsMax - 1, inMs: signInsLoggedMs })
    wake()
    expect(lines).toHaveLength(2)
    expect(waits()).toBe(false)
    await present('wrong-again')
    expect(lines).toHaveLength(3)
    signIns.stop()
    expect(waits()).toBe(false)
    expect(JSON.stringify(lines)).not.toMatch(/wrong-/)
  })
})

describe('with a system behind it', () => {
  const ask = async (system: ReturnType<typeof createSystem>, headers: Headers, url = '/v1/jobs') =>
    await system.api.instance.inject({ url, headers })

  it('one wrong token too many is answered with 429 and when to retry; callers that are signed in stay so', async () => {
    let logged = ''
    const sink = new Writable({
      write(chunk, _encoding, done) {
        logged += chunk
        done()
      },
    })
    await using system = createSystem({ apiTokens, logger: pino({ level: 'info' }, sink) })
    expect((await ask(system, viewer)).statusCode).toBe(200)
    for (let index = 0; index < 200; index++) await ask(system, bearer(`guess-${index}`))
    const late = await ask(system, bearer('guess-late'))
    expect(late.json()).toMatchObject({ status: 429, code: 'too-many-requests', retriable: true })
    expect(late.headers['retry-after']).toBeDefined()
    expect((await ask(system, viewer)).statusCode).toBe(200)
    expect((await ask(system, admin)).statusCode).toBe(429)
    expect(logged.trim().split('\n')).toHaveLength(1)
    expect(logged).not.toContain('guess-')
  })

  it('a token that is refused here may be valid for the internal routes, and the other way round', async () => {
    await using system = createSystem({ apiTokens })
    expect((await ask(system, operator, '/internal/v1/partitions')).statusCode).toBe(200)
    const wrong = bearer('x'.repeat(32))
    expect((await ask(system, wrong, '/internal/v1/partitions')).statusCode).toBe(401)
    expect((await ask(system, wrong)).statusCode).toBe(401)
  })
})

/** test-systems: how long tests with testSystem take. Needs no broker. */
import { fakeRun, testSystem } from '../../src/testing/library.ts'

const hourMs = 3_600_000
/** Tests of which the first ones compile the code and do not count. */
const warmUp = 10

/** Two jobs with one attempt each. */
async function small(seed: number): Promise<void> {
  const duelog = testSystem({ seed, handlers: { greet: ({ payload }: { payload: unknown }) => payload } })
  for (const id of ['deposit', 'bonus'])
    await duelog.schedule({ id, schedule: { delayMs: 1_000 }, target: { handler: 'greet' }, payload: id })
  await duelog.advanceBy(1_000)
  if ((await duelog.run('deposit', 1))?.result !== 'deposit') throw new Error('The run has no result.')
}

/** A day of hourly runs whose first attempts fail: 48 attempts. */
async function day(seed: number): Promise<void> {
  const duelog = testSystem({
    seed,
    handlers: ({ sleep }) => ({
      flaky: async ({ attempt }: { attempt: number }) => {
        await sleep(100)
        if (attempt === 1) throw new Error('not yet')
      },
    }),
  })
  await duelog.schedule({ id: 'hourly', schedule: { everyMs: hourMs }, target: { handler: 'flaky' } })
  await duelog.advanceBy(24 * hourMs)
  if ((await duelog.run('hourly', 24)) === undefined) throw new Error('There are not 24 runs.')
}

export async function testSystems(_bed: unknown, n = 300): Promise<Record<string, unknown>> {
  const smallMs = await msEach(n, small)
  const dayMs = await msEach(Math.ceil(n / 5), day)
  const fakeUs = (await msEach(n * 10, async () => void fakeRun({ n: 1 }))) * 1_000
  return { n, smallMs, smallPerMin: perMinute(smallMs), dayMs, dayPerMin: perMinute(dayMs), fakeRunUs: Math.round(fakeUs) }
}

/** Processor time, because the machine may be busy. */
async function msEach(count: number, test: (seed: number) => Promise<void>): Promise<number> {
  for (let seed = 0; seed < warmUp; seed++) await test(seed)
  const before = process.cpuUsage()
  for (let seed = 0; seed < count; seed++) await test(seed)
  const { user, system } = process.cpuUsage(before)
  return Math.round((user + system) / 10 / count) / 100
}

const perMinute = (ms: number): number => Math.round(60_000 / ms)

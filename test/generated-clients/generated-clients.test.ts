/** Clients that openapi-generator makes of the served description, in four languages: each is built, and does the usual with a real system. */
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { openPlace } from '../targets/harness.ts'
import { buildClient, fetchJars, type Language, type Program, run } from './toolchains.ts'

const token = 'o'.repeat(32)
/** Two at a time: that is how many cores there are, and each builds with more than one thread. */
const lanes: Language[][] = [
  ['go', 'typescript'],
  ['java', 'python'],
]

/** What each client reads and is told, whatever its language. */
const expected = (id: string) => ({
  ...{
    applied: true,
    status: 'ACTIVE',
    lastRun: null,
    listed: id,
    plan: 'UNCHANGED',
    line: true,
    workers: 1,
    explained: 'ACTIVE',
  },
  // More than 32 bits, and one of two types.
  at: '2100-01-01T00:00:00.000Z',
  startAt: '2030-01-31T07:00:00.000Z',
  headers: { bytes: { base64: 'AP8=' }, plain: 'text' },
  payload: { n: 1 },
  backoffMs: 1_500,
  // A number, and a word.
  priorities: [7, 'LOW'],
  ...{ runId: `${id}/1`, run: 'SUCCEEDED', result: { n: 2 } },
  preview: 4_102_531_200_000,
  partitions: 'active,active',
  missing: '404 not-found false',
  refused: '400 bad-definition false',
  stranger: '401 unauthorized false',
})

test('clients made by openapi-generator for Go, Java, Python and TypeScript build, and get through', async ({
  onTestFinished,
}) => {
  const folder = await mkdtemp(join(tmpdir(), 'duelog-generated-clients-'))
  onTestFinished(() => rm(folder, { recursive: true, force: true }))
  const place = await openPlace()
  const settings = { DUELOG_ROLES: 'scheduler,executor,api', DUELOG_API_TOKENS: `operator:${token}` }
  const system = await place.start(settings, { echo: async ({ payload }) => payload })
  await fetchJars(join(folder, 'jars'))
  const document = join(folder, 'openapi.json')
  await writeFile(document, await (await fetch(`${system.url}/openapi.json`)).text())

  const roundTrip = async (language: Language): Promise<void> => {
    const { command, args }: Program = await buildClient(language, document, join(folder, 'jars'), join(folder, language))
    const id = `${language}/ü 1`
    const facts = JSON.parse(await run(command, [...args, system.url, token, id]))
    expect({ language, ...facts }).toEqual({ language, ...expected(id) })
  }
  // All are tried, so that one failure does not hide another.
  const ended = await Promise.allSettled(
    lanes.map(async (languages) => {
      const failures: unknown[] = []
      for (const language of languages) await roundTrip(language).catch((error) => failures.push(error))
      if (failures.length > 0) throw new AggregateError(failures, failures.map(String).join('\n\n'))
    }),
  )
  for (const lane of ended) if (lane.status === 'rejected') throw lane.reason
}, 600_000)

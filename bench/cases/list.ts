/**
 * list: n pending jobs of many kinds, listed and searched. The figures are times from a request to its answer: of the API, and of
 * the dashboard in a real Chromium, from the typed text to the rows that show it. A search that builds a search index is given
 * twice. The first time reads page after page until something is found or everything is searched; the second time uses the index.
 */
import { createClient } from '../../src/clients/library/create-client.ts'
import { type Bed, Stage } from '../tools/bed.ts'
import { type Answered, ask, untilFound } from '../tools/lists.ts'
import { pageTimes } from '../tools/page-times.ts'

const farMs = 7 * 86_400_000
const payload = 'x'.repeat(200)
const pausedEvery = 5_000
const invalidEvery = 10_000
const deadEvery = 20_000

/** One in ten has a tag. A few are paused, invalid, or dead at once. Three have a handler of their own. */
function* manyJobs(n: number, at: number) {
  for (let index = 0; index < n; index++) {
    const id = `job-${String(index).padStart(7, '0')}`
    const rare = index % Math.ceil(n / 3) === Math.ceil(n / 6)
    const dead = index % deadEvery === 7
    yield {
      id: rare ? `${id}-needle` : id,
      schedule: dead ? { delayMs: 0 } : { at: at + index },
      target: { handler: dead ? 'fail' : rare ? 'rare' : index % 4 === 0 ? 'common' : 'bench' },
      payload: dead ? '{"times":9}' : payload,
      contentType: dead ? 'application/json' : 'text/plain',
      ...(dead && { retry: { maxAttempts: 1 } }),
      ...(index % 10 === 3 && { tags: [index % 1_000 === 3 ? 'tag-rare' : 'tag-common'] }),
      ...(index % pausedEvery === 5 && { paused: true }),
    }
  }
}

/** Writes values that no schema knows: their jobs are INVALID. */
async function writeInvalid(stage: Stage, n: number): Promise<number> {
  const count = Math.ceil(n / invalidEvery)
  const writer = await stage.log.writer()
  const records = Array.from({ length: count }, (_, index) => ({
    topic: stage.names.jobs,
    ofJob: true,
    key: `broken-${index}`,
    value: Buffer.from('not a definition'),
  }))
  await writer.write(records)
  await writer.close()
  return count
}

export async function list(bed: Bed, n = 1_000_000): Promise<Record<string, unknown>> {
  const stage = await Stage.open(bed)
  try {
    const client = createClient({ brokers: bed.brokers, registryUrl: bed.registryUrl, topicPrefix: stage.prefix })
    await client.scheduleMany(manyJobs(n, Date.now() + farMs))
    await client.close()
    const invalid = await writeInvalid(stage, n)
    const owner = await stage.start('scheduler,executor,retrier,api', 'owner')
    const dead = Math.ceil((n - 7) / deadEvery)
    await untilFound(owner.url, '/v1/dead-letters?limit=1000', dead)
    await untilFound(owner.url, '/v1/jobs?status=INVALID&limit=1000', invalid)
    const before = await owner.report()
    const api = await apiTimes(owner.url, n)
    const after = await owner.report()
    const page = await pageTimes(owner.url)
    return {
      n,
      readyMs: Math.round(owner.readyMs),
      apiMs: api,
      pageMs: page,
      rssMb: Math.round(before.rssBytes / 2 ** 20),
      rssSearchedMb: Math.round(after.rssBytes / 2 ** 20),
    }
  } finally {
    await stage.close()
  }
}

async function apiTimes(url: string, n: number): Promise<Record<string, number>> {
  const times: Record<string, number> = {}
  const timed = async (name: string, query: string, wanted = 50): Promise<Answered> => {
    const answered = await ask(url, query, wanted)
    times[name] = Math.round(answered.tookMs * 10) / 10
    return answered
  }
  const soon = (index: number): number => Date.now() + farMs + index
  await timed('warmUp', '')
  await timed('first', '')
  const middle = `job-${String(Math.floor(n / 2)).padStart(7, '0')}`
  const deep = Buffer.from(JSON.stringify([middle, []])).toString('base64url')
  await timed('deep', `cursor=${deep}`)
  await timed('idPrefix', `idPrefix=${middle.slice(0, -1)}`)
  await timed('idPrefixRare', `idPrefix=${middle}`)
  await timed('tagCommon', 'tag=tag-common')
  await timed('tagRare', 'tag=tag-rare')
  for (const status of ['ACTIVE', 'PAUSED', 'COMPLETED', 'INVALID']) await timed(`status${status}`, `status=${status}`)
  await timed('dueBeforeFew', `dueBefore=${soon(-60_000)}`)
  await timed('dueBeforeAll', `dueBefore=${soon(n + 60_000)}`)
  await timed('handlerCommonFirst', 'handler=common')
  const first = await timed('handlerRareFirst', 'handler=rare')
  times.handlerRareRequests = first.requests
  await timed('handlerRare', 'handler=rare')
  await timed('handlerNone', 'handler=none')
  await timed('handlerCommon', 'handler=common')
  await timed('idContains', 'idContains=needle')
  await timed('idContainsCommon', 'idContains=7')
  return times
}

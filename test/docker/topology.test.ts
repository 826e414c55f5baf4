/**
 * The cluster of docker/compose.yaml without containers: three real brokers, two owners, a worker for each of two pools, the history and
 * the API, each a process with the environment of its service, on loopback. A broker is killed, then an owner: what is due goes on being fired, once.
 */
import { randomUUID } from 'node:crypto'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, type TestContext, test, vi } from 'vitest'
import { recurring, registryUrl, temporaryFolder } from '../faults/harness.ts'
import { distinctPorts } from '../setup/free-ports.ts'
import { Checker } from '../tools/checker.ts'
import { clean } from '../tools/checker-audit.ts'
import { tellIfFailed } from '../tools/story.ts'
import { BrokerNode } from './broker-node.ts'
import { composeFile, environmentIn } from './compose-file.ts'
import { DuelogService } from './duelog-service.ts'

const partitions = 4
/** Occurrences of each job, one a second. */
const times = 40
const token = 'a-token-of-the-test'
const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/x-ndjson' }
const patience = { timeout: 60_000, interval: 250 }

/** The services with the addresses of containers, such as kafka-1:9092, replaced by ones on loopback. */
async function openCluster(test: TestContext) {
  const folder = await temporaryFolder(test)
  const prefix = `c-${randomUUID().slice(0, 8)}.`
  await writeFile(join(folder, 'api-tokens'), `admin:${token}\n`)
  const { services } = composeFile('docker/compose.yaml', { DUELOG_PARTITIONS: String(partitions) })
  const names = Object.keys(services)
  const ours = names.filter((name) => services[name]?.image === 'duelog' && services[name]?.deploy?.replicas !== 0)
  const nodes = names.filter((name) => /^kafka-\d$/.test(name))
  const places = [...nodes.flatMap((name) => [`${name}:9092`, `${name}:9093`]), ...ours.map((name) => `${name}:8080`)]
  const ports = await distinctPorts(places.length)
  const addresses = new Map(places.map((place, index) => [place, `127.0.0.1:${ports[index]}`]))
  const addressOf = (place: string): string => addresses.get(place) ?? ''
  const environmentOf = (name: string): Record<string, string> =>
    Object.fromEntries(
      Object.entries(environmentIn(folder, services[name] ?? { image: '' })).map(([setting, value]) => [
        setting,
        // A listener without a host is on all addresses of the container.
        value.replace(/\/\/:(\d+)/g, `//${name}:$1`).replace(/\b[a-z]+-\d:\d+/g, (place) => addresses.get(place) ?? place),
      ]),
    )

  const brokerNodes = await Promise.all(nodes.map((name) => BrokerNode.start(join(folder, name), environmentOf(name))))
  test.onTestFinished(async () => {
    await Promise.all(brokerNodes.map((node) => node.stop()))
  })
  await Promise.all(brokerNodes.map((node) => node.up()))
  const processes = ours.map((name) => {
    const settings = {
      ...environmentOf(name),
      SCHEMA_REGISTRY_URL: registryUrl,
      DUELOG_TOPIC_PREFIX: prefix,
      DUELOG_HTTP_HOST: '127.0.0.1',
      DUELOG_HTTP_PORT: addressOf(`${name}:8080`).split(':')[1] ?? '',
      DUELOG_DATA_DIR: join(folder, name),
      DUELOG_LOG_LEVEL: 'error',
    }
    return new DuelogService(test, name, settings)
  })
  await Promise.all(processes.map((each) => each.ready()))
  const brokers = nodes.map((name) => addressOf(`${name}:9092`))
  const checker = await Checker.open({ brokers, prefix, partitions })
  tellIfFailed(test, () => checker.story())
  test.onTestFinished(() => checker.close())
  const service = (name: string) => processes.find((each) => each.name === name) as DuelogService
  const url = `http://${addressOf('api:8080')}`
  const jobOf = async (id: string) => (await (await fetch(`${url}/v1/jobs/${id}`, { headers })).json()) as Record<string, unknown>
  return { brokerNodes, processes, service, checker, url, jobOf, addressOf }
}

test('the cluster of the compose file fires each occurrence once, while a broker and then an owner are killed', async (context) => {
  const cluster = await openCluster(context)
  const { checker, url } = cluster
  const partitionsNow = async () =>
    (await (await fetch(`${url}/v1/partitions`, { headers })).json()) as { partitions: { phase: string; url: string | null }[] }
  // The API process owns nothing: it hears of the owners from the group, under the names that they tell.
  await vi.waitFor(async () => {
    const { partitions } = await partitionsNow()
    const urls = ['scheduler-1', 'scheduler-2'].map((name) => `http://${cluster.addressOf(`${name}:8080`)}`)
    expect(new Set(partitions.map((view) => view.url))).toEqual(new Set(urls))
  }, patience)

  const from = Date.now() + 5_000
  const work = recurring('work', 10, from, 1_000, times)
  const reports = recurring('report', 4, from, 1_000, times)
  const jobs = [...work.jobs, ...reports.jobs.map((job) => ({ ...job, target: { handler: 'noop', pool: 'reports' } }))]
  const body = jobs.map((job) => JSON.stringify(job)).join('\n')
  const answer = await fetch(`${url}/v1/jobs/batch`, { method: 'POST', headers, body })
  expect(answer.status).toBe(200)
  expect((await answer.text()).trim().split('\n')).toHaveLength(jobs.length)
  // On a machine that is busy: no job has an occurrence before it was defined.
  const writtenAt = Date.now()
  const expected = work.expected.map((each) => ({ ...each, optional: each.scheduledFor <= writtenAt }))
  const runsMin = times - reports.expected.filter(({ scheduledFor }) => scheduledFor <= writtenAt).length / reports.jobs.length

  const fired = (sinceMs: number) => checker.until(() => checker.executions.some(({ scheduledFor }) => scheduledFor > sinceMs))
  await fired(from)
  await cluster.brokerNodes[1]?.kill()
  await fired(Date.now() + 5_000)
  cluster.service('scheduler-1').signal('SIGKILL')
  await cluster.service('scheduler-1').exited
  await checker.succeeded(expected)
  expect(await checker.audit(expected)).toEqual(clean)
  await vi.waitFor(async () => {
    for (const { id } of reports.jobs) {
      const job = await cluster.jobOf(id)
      expect(job).toMatchObject({ status: 'COMPLETED', failed: 0, skipped: 0 })
      expect(job.succeeded).toBeGreaterThanOrEqual(Math.floor(runsMin))
      expect(job.succeeded).toBeLessThanOrEqual(times)
    }
  }, patience)

  // The API process asks the history under the name that it tells.
  const ended = await Promise.all(jobs.map(async ({ id }) => (await cluster.jobOf(id)).succeeded as number))
  await vi.waitFor(async () => {
    const counts = await fetch(`${url}/v1/history/counts?from=${from - 3_600_000}`, { headers })
    const { total } = (await counts.json()) as { total: Record<string, number> }
    expect(total.SUCCEEDED).toBe(ended.reduce((sum, runs) => sum + runs))
  }, patience)

  const left = cluster.processes.filter(({ name }) => name !== 'scheduler-1')
  for (const each of left) each.signal('SIGTERM')
  expect(await Promise.all(left.map(({ exited }) => exited))).toEqual(left.map(() => 0))
}, 420_000)

/**
 * `npm run test:docker`: docker/compose.yaml in real containers, by hand, because it needs root, Podman and ten minutes.
 *
 *   apt-get install podman runc golang-github-containernetworking-plugin-dnsname mmdebstrap   # and Docker Compose 2
 *   npm run test:docker
 *   npm run test:docker -- --jobs 200 --seconds 60 --keep
 *
 * It makes stand-ins for base images that are missing, builds the image, brings the cluster up, and sends the day of the demo. Meanwhile
 * it kills a broker and an owner, and changes the number of workers. Then each job must have run exactly once, by the API and by
 * `duelog audit`, and every process of ours must end with 0 at SIGTERM. Its own containers, networks and volumes are removed, unless
 * --keep; images stay. --no-build takes the image `duelog` as it is. Exit code: 0 proved, 1 not proved, 2 this machine lacks something.
 */
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { distinctPorts } from '../setup/free-ports.ts'
import { composeFile } from './compose-file.ts'
import { faultsOf, memoryOf, namelessVolumes, openPorts, shapeOf, stop } from './proof/checks.ts'
import { Compose, type Container, composeProgram } from './proof/compose.ts'
import { Api, judge, latenessBy, planned } from './proof/day.ts'
import { Podman, run } from './proof/podman.ts'
import { makeStandIns } from './proof/stand-ins.ts'

const { values: flags } = parseArgs({
  options: {
    jobs: { type: 'string', default: '688' },
    seconds: { type: 'string', default: '180' },
    keep: { type: 'boolean', default: false },
    'no-build': { type: 'boolean', default: false },
  },
})
const durationMs = Number(flags.seconds) * 1_000
const root = fileURLToPath(new URL('../../', import.meta.url))
const token = 'a-token-of-the-proof'
const viewerToken = 'a-token-for-the-metrics'
/** On two busy cores twelve programs take minutes to start. */
const healthyMsMax = 600_000
const drainedMsMax = 240_000
const scrapedMsMax = 60_000
const imageBytesMax = 250_000_000
const graceS = 40
/** Two owners, six workers, the history and the API. */
const processes = 10
const begun = performance.now()
const say = (line: string): void => console.log(`${((performance.now() - begun) / 1_000).toFixed(0).padStart(5)} s  ${line}`)
const faults: string[] = []
const must = (what: boolean, fault: string): void => {
  if (what) return
  faults.push(fault)
  say(`FAULT: ${fault}`)
}

async function until(name: string, msMax: number, holds: () => Promise<boolean>): Promise<number> {
  const from = performance.now()
  while (performance.now() - from < msMax) {
    if (await holds().catch(() => false)) return Math.round((performance.now() - from) / 1_000)
    await wait(1_000)
  }
  throw new Error(`${name} did not come within ${msMax / 1_000} s.`)
}

/** What makes the cluster small beside other programs, and gives the workers the handler of the day. It promises nothing. */
function overlay(): unknown {
  const kafka = {
    environment: {
      KAFKA_OFFSETS_TOPIC_NUM_PARTITIONS: '4',
      KAFKA_TRANSACTION_STATE_LOG_NUM_PARTITIONS: '4',
      KAFKA_SHARE_COORDINATOR_STATE_TOPIC_NUM_PARTITIONS: '1',
      KAFKA_LOG_CLEANER_DEDUPE_BUFFER_SIZE: String(32 * 1024 * 1024),
    },
  }
  const executor = {
    environment: { DUELOG_HANDLERS: '/proof/build.mjs' },
    volumes: [`${join(root, 'test/docker/proof/handlers')}:/proof:ro`],
  }
  return {
    services: {
      ...{ 'kafka-1': kafka, 'kafka-2': kafka, 'kafka-3': kafka },
      ...{ 'executor-default': executor, 'executor-reports': executor },
    },
  }
}

async function image(podman: Podman): Promise<void> {
  if (flags['no-build']) return
  say('Building docker/Dockerfile …')
  await podman.do(['build', '--format', 'docker', '--file', 'docker/Dockerfile', '--tag', 'duelog', '.'], { cwd: root })
  const bytes = Number(await podman.do(['image', 'inspect', '--format', '{{.Size}}', 'duelog']))
  const script = 'podman save duelog | gzip -6 | wc -c'
  const { output } = await run('sh', ['-c', script], { env: podman.env })
  const packed = Number(output.trim().split('\n').at(-1))
  const megabytes = (size: number): string => `${(size / 1e6).toFixed(0)} MB`
  say(`The image has ${megabytes(bytes)}, and ${megabytes(packed)} compressed.`)
  must(bytes <= imageBytesMax, `The image has ${megabytes(bytes)}; at most ${megabytes(imageBytesMax)} are allowed.`)
}

async function checkShapes(podman: Podman, ours: readonly Container[], all: readonly Container[]): Promise<void> {
  for (const container of ours)
    for (const fault of faultsOf(container.name, await shapeOf(podman, container, token))) must(false, fault)
  for (const fault of await openPorts(podman, all)) must(false, fault)
  say(`${ours.length} containers run as user 1000 without capabilities, on a read-only root, and show no secret.`)
}

async function metrics(url: string): Promise<void> {
  type Targets = { data: { activeTargets: { labels: Record<string, string>; health: string }[] } }
  type Rules = { data: { groups: { rules: unknown[] }[] } }
  const get = async <T>(path: string): Promise<T> => (await (await fetch(`${url}${path}`)).json()) as T
  let scraped: string[] = []
  const seconds = await until(`Prometheus with ${processes} processes`, scrapedMsMax, async () => {
    const { data } = await get<Targets>('/api/v1/targets?state=active')
    const up = data.activeTargets.filter(({ labels, health }) => labels.job === 'duelog' && health === 'up')
    scraped = up.map(({ labels }) => `${labels.service} ${labels.instance}`)
    return up.length === processes
  }).catch((error: Error) => must(false, `${error.message} Scraped: ${scraped.sort().join(', ')}.`))
  if (seconds === undefined) return
  const { data } = await get<Rules>('/api/v1/rules')
  const rules = data.groups.reduce((sum, group) => sum + group.rules.length, 0)
  say(`Prometheus scrapes ${processes} processes, ${seconds} s later, and has ${rules} rules.`)
}

async function day(podman: Podman, compose: Compose, api: Api, services: readonly string[]): Promise<void> {
  const startAt = Date.now() + 20_000
  const plan = planned(Number(flags.jobs), startAt, durationMs)
  await api.send(plan)
  say(`Sent ${plan.length} jobs for the next ${flags.seconds} s.`)
  const moments = [{ name: 'all run', at: startAt }]
  const at = async (share: number, name: string, what: () => Promise<unknown>): Promise<void> => {
    await wait(Math.max(0, startAt + share * durationMs - Date.now()))
    moments.push({ name, at: Date.now() })
    say(`${name} …`)
    await what()
  }
  const only = async (service: string): Promise<Container> => (await compose.of(service))[0] as Container
  const scale = (to: number): Promise<string> =>
    compose.do('up', '--detach', '--no-recreate', '--no-build', '--scale', `executor-default=${to}`, ...services)
  await at(0.15, 'kafka-2 is killed', async () => podman.do(['kill', (await only('kafka-2')).id]))
  await at(0.4, 'scheduler-1 is killed', async () => podman.do(['kill', (await only('scheduler-1')).id]))
  await at(0.6, 'both are started again', async () =>
    podman.do(['start', (await only('kafka-2')).id, (await only('scheduler-1')).id]),
  )
  await at(0.7, 'workers go from 4 to 6', () => scale(6))
  must((await compose.of('executor-default')).length === 6, 'There are not six workers of the default pool.')
  await at(0.85, 'workers go from 6 to 2', () => scale(2))
  must((await compose.of('executor-default')).length === 2, 'There are not two workers of the default pool.')
  await wait(Math.max(0, startAt + durationMs - Date.now()))
  const ended = async (): Promise<boolean> => (await api.ended(startAt - 3_600_000)) >= plan.length
  await until('The end of all runs', drainedMsMax, ended).catch((error: Error) => must(false, error.message))
  const runs = await api.runs(startAt - 3_600_000)
  const verdict = judge(plan, runs)
  for (const fault of verdict.faults) must(false, fault)
  say(`The API knows ${verdict.ended} ended runs of ${verdict.expected} jobs.`)
  console.table(latenessBy(moments, runs))
}

/** In the container of the API, which has the settings of the cluster. */
async function audit(podman: Podman, api: Container): Promise<void> {
  const args = ['exec', api.id, 'duelog', 'audit', '--json']
  const { code, output, stdout } = await run('podman', args, { env: podman.env })
  const verdict = JSON.parse(stdout) as {
    clean: boolean
    runs: number
    succeeded: number
    dead: number
    startedAgain: number
  }
  must(code === 0 && verdict.clean, `duelog audit ended with ${code}: ${output.slice(0, 2_000)}`)
  say(
    `duelog audit: ${verdict.runs} runs, ${verdict.succeeded} succeeded, ${verdict.dead} dead, ${verdict.startedAgain} started again.`,
  )
}

async function proof(podman: Podman, program: readonly string[], folder: string): Promise<void> {
  const missing = await makeStandIns(podman, folder, say)
  await image(podman)
  const secrets = join(folder, 'secrets')
  await mkdir(secrets, { mode: 0o700 })
  await writeFile(join(secrets, 'api-tokens'), `admin:${token},viewer.prometheus:${viewerToken}\n`)
  await writeFile(join(secrets, 'metrics-token'), `${viewerToken}\n`)
  await writeFile(join(secrets, 'grafana-password'), 'a-password-of-the-proof\n')
  await writeFile(join(folder, 'overlay.yaml'), JSON.stringify(overlay()))
  const [http = 0, prometheus = 0, grafana = 0] = await distinctPorts(3)
  const project = `duelog-proof-${process.pid}`
  const compose = new Compose(program, {
    podman,
    project,
    files: [join(root, 'docker/compose.yaml'), join(folder, 'overlay.yaml')],
    env: {
      ...{
        SECRETS_DIR: secrets,
        DUELOG_HTTP_PORT: String(http),
        PROMETHEUS_PORT: String(prometheus),
        GRAFANA_PORT: String(grafana),
      },
      ...{ DUELOG_PARTITIONS: '4', KAFKA_HEAP_OPTS: '-Xms128m -Xmx256m' },
    },
  })
  const services = Object.keys(composeFile('docker/compose.yaml').services).filter((name) => !missing.includes(name))
  podman.serve()
  compose.watchHealth()
  const close = async (): Promise<void> => {
    await compose.close()
    if (!flags.keep) await compose.do('down', '--volumes', '--timeout', '20')
    await podman.close()
  }
  const interrupted = async (): Promise<never> => {
    say('Interrupted; removing what was started.')
    await close().finally(() => process.exit(1))
    throw new Error('unreachable')
  }
  process.once('SIGINT', interrupted).once('SIGTERM', interrupted)
  try {
    say(`Starting ${services.length} services …`)
    const from = performance.now()
    const nameless = new Set(await namelessVolumes(podman))
    await compose.do('up', '--detach', '--no-build', ...services)
    const ours = async (): Promise<Container[]> =>
      (await compose.containers()).filter(({ service }) => /^(scheduler|executor|history|api)/.test(service))
    await until('The health of all containers', healthyMsMax, async () => {
      const now = await ours()
      return now.length === processes && now.every(({ health }) => health === 'healthy')
    })
    say(
      `All ${(await ours()).length} processes of Duelog are healthy ${Math.round((performance.now() - from) / 1_000)} s after the start.`,
    )
    await checkShapes(podman, await ours(), await compose.containers())
    if (services.includes('prometheus')) await metrics(`http://127.0.0.1:${prometheus}`)
    await day(podman, compose, new Api(`http://127.0.0.1:${http}`, token), services)
    const left = (await namelessVolumes(podman)).filter((name) => !nameless.has(name))
    must(left.length === 0, `${left.length} volumes have no name, so nobody would remove them.`)
    await audit(podman, (await compose.of('api'))[0] as Container)
    const running = (await compose.containers()).filter(({ state }) => state === 'running')
    console.table(await memoryOf(podman, running))
    for (const container of await ours()) {
      const { name, exitCode, ms } = await stop(podman, container, graceS)
      must(exitCode === 0, `${name} ended with ${exitCode} at SIGTERM.`)
      say(`${name} stopped in ${(ms / 1_000).toFixed(1)} s.`)
    }
  } catch (error) {
    if (!flags.keep)
      for (const { name, id } of await compose.containers())
        say(`${name}: ${(await run('podman', ['logs', '--tail', '5', id], { env: podman.env })).output.slice(-600)}`)
    throw error
  } finally {
    await close()
  }
}

async function main(): Promise<number> {
  const { code } = await run('podman', ['--version']).catch(() => ({ code: 1 }))
  const program = await composeProgram()
  if (code !== 0 || process.getuid?.() !== 0 || program === undefined) {
    console.error('This needs root, Podman and Docker Compose 2 (`docker compose` or `docker-compose`). Nothing was done.')
    return 2
  }
  const folder = await mkdtemp(join(tmpdir(), 'duelog-docker-'))
  const podman = await Podman.open(folder)
  try {
    await proof(podman, program, folder)
  } catch (error) {
    must(false, error instanceof Error ? error.message : String(error))
  } finally {
    await podman.close()
    if (!flags.keep) await rm(folder, { recursive: true, force: true })
  }
  say(faults.length === 0 ? 'Proved.' : `Not proved: ${faults.length} faults.`)
  return faults.length === 0 ? 0 : 1
}

process.exitCode = await main()

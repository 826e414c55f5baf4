/**
 * Base images where none can be pulled: stand-ins with the very names that docker/Dockerfile and docker/compose.yaml give, made of
 * Debian's packages, npm's `node` and the jars that src/program/embedded fetches. An image that is there already stays, so real ones are used
 * where they were pulled. Each stand-in has the label `duelog.stand-in`.
 */
import { cp, mkdir, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { artifactFolder, jarLists, kafkaVersion } from '../../../src/program/embedded/artifacts.ts'
import type { StartContext } from '../../../src/program/embedded/options.ts'
import { readHouseFile } from '../../house/tree.ts'
import { composeFile } from '../compose-file.ts'
import { type Podman, run } from './podman.ts'

const recipes = fileURLToPath(new URL('../stand-ins/', import.meta.url))
const certificates = '/etc/ssl/certs/ca-certificates.crt'
const left = ['/usr/share/man/*', '/usr/share/doc/*', '/usr/share/locale/*', '/usr/share/info/*']
/** Nobody publishes it as a package of Debian, npm or Maven. */
const without = /^grafana\//

type Say = (line: string) => void

interface Kind {
  /** Folder of its recipe. */
  name: string
  of: RegExp
  /** Fills the build context. */
  fill: (context: string, say: Say) => Promise<void>
}

const kinds: readonly Kind[] = [
  {
    name: 'debian',
    of: /^debian:/,
    fill: async (context) => {
      const args = ['--variant=minbase', '--mode=root', '--include=usr-is-merged', '--quiet']
      const merged = '--hook-dir=/usr/share/mmdebstrap/hooks/merged-usr'
      const excluded = left.map((path) => `--dpkgopt=path-exclude=${path}`)
      await made('mmdebstrap', [...args, merged, ...excluded, 'bookworm', join(context, 'base.tar')])
    },
  },
  {
    name: 'node',
    of: /^node:/,
    fill: async (context) => {
      await cp(process.execPath, join(context, 'node'))
      await made('npm', ['install', '--prefix', join(context, 'fetched'), '--no-save', '--no-audit', '--no-fund', 'npm@11'])
      await cp(join(context, 'fetched/node_modules/npm'), join(context, 'npm'), { recursive: true })
      await cp(certificates, join(context, 'ca-certificates.crt'), { dereference: true })
    },
  },
  {
    name: 'kafka',
    of: /^apache\/kafka:/,
    fill: async (context, say) => {
      await jars('kafka', join(context, 'libs'), say)
      // The embedded broker needs no programs; `registry-topic` of the compose file needs one.
      const artifact = `-Dartifact=org.apache.kafka:kafka-tools:${kafkaVersion}`
      await made('mvn', [
        '-q',
        '-B',
        '--strict-checksums',
        'dependency:copy',
        artifact,
        `-DoutputDirectory=${join(context, 'libs')}`,
      ])
    },
  },
  {
    name: 'registry',
    of: /^apicurio\/apicurio-registry-kafkasql:/,
    fill: (context, say) => jars('registry', join(context, 'registry'), say),
  },
  { name: 'prometheus', of: /^prom\/prometheus:/, fill: async () => {} },
]

async function made(program: string, args: readonly string[]): Promise<void> {
  const { code, output } = await run(program, args)
  if (code !== 0) throw new Error(`${program} ${args.join(' ')} ended with ${code}: ${output.slice(-2_000)}`)
}

async function jars(name: 'kafka' | 'registry', to: string, say: Say): Promise<void> {
  const { env } = process
  const context = { env, logDir: to, onProgress: say, jarLists } as unknown as StartContext
  await mkdir(to, { recursive: true })
  await cp(await artifactFolder(name, context), to, { recursive: true })
}

/** Every image that is built on or started, and not built by us; Debian first, because the others are built on it. */
function wanted(): string[] {
  const bases = Array.from(readHouseFile('docker/Dockerfile').text.matchAll(/^FROM (\S+)/gm), ([, image = '']) => image)
  const started = Object.values(composeFile('docker/compose.yaml').services).map(({ image }) => image)
  const all = [...new Set([...bases, ...started])].filter((image) => image !== 'duelog')
  return all.sort((a, b) => Number(b.startsWith('debian:')) - Number(a.startsWith('debian:')))
}

/** Images that have no recipe. */
export function imagesWithoutRecipe(): string[] {
  return wanted().filter((image) => !kinds.some(({ of }) => of.test(image)))
}

/** Makes those that are missing. Returns the services of compose.yaml that cannot be started, because their image is missing. */
export async function makeStandIns(podman: Podman, folder: string, say: Say): Promise<string[]> {
  const debian = wanted()[0] ?? ''
  for (const image of wanted()) {
    const full = `docker.io/${image.includes('/') ? '' : 'library/'}${image}`
    if (await there(podman, full)) continue
    const kind = kinds.find(({ of }) => of.test(image))
    if (kind === undefined) {
      say(`${image} cannot be had here${without.test(image) ? ': no registry of packages has it' : ''}; its service is left out.`)
      continue
    }
    say(`Making a stand-in for ${image} …`)
    const context = join(folder, `stand-in-${kind.name}`)
    await cp(join(recipes, kind.name), context, { recursive: true })
    await kind.fill(context, say)
    const labels = ['--label', 'duelog.stand-in=true', '--build-arg', `DEBIAN=docker.io/library/${debian}`]
    await podman.do(['build', '--quiet', '--format', 'docker', ...labels, '--tag', full, context])
    await rm(context, { recursive: true })
  }
  const services = Object.entries(composeFile('docker/compose.yaml').services)
  const missing: string[] = []
  for (const [name, { image }] of services)
    if (image !== 'duelog' && !(await there(podman, `docker.io/${image}`))) missing.push(name)
  return missing
}

async function there(podman: Podman, image: string): Promise<boolean> {
  const { code } = await run('podman', ['image', 'exists', image], { env: podman.env })
  return code === 0
}

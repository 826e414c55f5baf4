/** Helm and a validator of Kubernetes objects in a Python environment, and what they say of the chart. */
import { execFile } from 'node:child_process'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { parseAllDocuments, stringify } from 'yaml'
import { makePython } from '../tools/python.ts'

const run = promisify(execFile)
const chart = fileURLToPath(new URL('../../docker/helm/duelog', import.meta.url))
const callMsMax = 60_000

export interface KubernetesObject {
  apiVersion: string
  kind: string
  metadata: { name: string; labels: Record<string, string>; annotations?: Record<string, string> }
  // biome-ignore lint/suspicious/noExplicitAny: objects of ten kinds, which the validator has checked.
  spec: any
}

export class ChartTools {
  readonly #folder: string
  #files = 0

  private constructor(folder: string) {
    this.#folder = folder
  }

  /** Installs both programs. Rejects with a sentence that says what is missing. */
  static async install(): Promise<ChartTools> {
    const folder = await mkdtemp(join(tmpdir(), 'duelog-chart-'))
    const tools = new ChartTools(folder)
    await makePython({
      folder,
      version: '3.9',
      requirements: fileURLToPath(new URL('requirements.txt', import.meta.url)),
      pip: ['--only-binary', ':all:'],
      lack: 'The chart cannot be tested',
      pipAdvice: 'pip must reach a package index, or find the wheels of test/docker/requirements.txt by PIP_FIND_LINKS',
    }).catch(async (error) => {
      await tools.remove()
      throw error
    })
    return tools
  }

  remove(): Promise<void> {
    return rm(this.#folder, { recursive: true, force: true })
  }

  /** The objects of the chart with these values. Rejects with what Helm says. */
  async render(values: object, release = 'duelog'): Promise<KubernetesObject[]> {
    const text = await this.#helm(
      'template',
      release,
      chart,
      '--namespace',
      'jobs',
      '--values',
      await this.#file('values', values),
    )
    const documents = parseAllDocuments(text)
    const broken = documents.flatMap(({ errors }) => errors)
    if (broken.length > 0) throw new Error(broken.join('\n'))
    return documents.map((document) => document.toJS() as KubernetesObject).filter((object) => object !== null)
  }

  /** Rejects with what Helm finds wrong in the chart. */
  async lint(values: object): Promise<void> {
    await this.#helm('lint', chart, '--strict', '--values', await this.#file('values', values))
  }

  /** What is wrong in objects of Kubernetes itself, unknown fields included, by the schema of that version. */
  async problems(objects: readonly object[], version: string): Promise<string> {
    const file = await this.#file('objects', ...objects)
    const program = join(this.#folder, 'bin', 'kubernetes-validate')
    return run(program, ['--strict', '--no-warn', '--quiet', '-k', version, file], { timeout: callMsMax }).then(
      ({ stdout, stderr }) => stdout + stderr,
      ({ stdout, stderr }) => `${stdout}${stderr}` || 'The validator ended with an error.',
    )
  }

  async #helm(...args: string[]): Promise<string> {
    const env = { PATH: process.env.PATH, HOME: this.#folder }
    const { stdout } = await run(join(this.#folder, 'bin', 'helm'), args, { timeout: callMsMax, maxBuffer: 2 ** 24, env })
    return stdout
  }

  async #file(name: string, ...documents: object[]): Promise<string> {
    const path = join(this.#folder, `${name}-${++this.#files}.yaml`)
    await writeFile(path, documents.map((document) => stringify(document)).join('---\n'))
    return path
  }
}

/** Everything that Duelog shows while it has secrets, and which of them are among it. */
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { readdirSync, readFileSync } from 'node:fs'
import { createServer, type IncomingMessage, request, type Server } from 'node:http'
import { type AddressInfo, createServer as createTcpServer, type Server as TcpServer } from 'node:net'
import { fileURLToPath } from 'node:url'
import { vi } from 'vitest'
import type { Signed } from '../tools/certificates.ts'

const program = fileURLToPath(new URL('../../src/program/cli/duelog.ts', import.meta.url))

/** Texts by the place that showed them. */
export class Shown {
  readonly #texts = new Map<string, string>()

  add(place: string, text: string): void {
    this.#texts.set(place, `${this.#texts.get(place) ?? ''}${text}\n`)
  }

  of(place: string): string {
    return this.#texts.get(place) ?? ''
  }

  /** `place: name` for each secret that a place showed, as it is or as it is written in URLs, headers and JSON. */
  leaks(secrets: Record<string, string>): string[] {
    const forms = Object.entries(secrets).flatMap(([name, secret]) => formsOf(secret).map((form) => ({ name, form })))
    const found = [...this.#texts].flatMap(([place, text]) =>
      forms.filter(({ form }) => text.includes(form)).map(({ name }) => `${place}: ${name}`),
    )
    return [...new Set(found)].toSorted()
  }
}

const formsOf = (secret: string): string[] => {
  // Of a key the lines between its first and last one.
  if (secret.startsWith('-----BEGIN')) return secret.split('\n').filter((line) => line !== '' && !line.startsWith('-----'))
  return [secret, encodeURIComponent(secret), Buffer.from(secret).toString('base64').replace(/=+$/, '')]
}

/** Duelog in a process of its own. Its lines are shown. */
export class ShownProcess {
  readonly #child: ChildProcess
  readonly #shown: Shown
  readonly #name: string
  readonly #waiting = new Set<() => void>()
  #lines = ''

  constructor(name: string, env: Record<string, string>, shown: Shown) {
    this.#name = name
    this.#shown = shown
    this.#child = spawn(process.execPath, [program, 'up'], { env: { PATH: process.env.PATH, HOME: process.env.HOME, ...env } })
    for (const stream of [this.#child.stdout, this.#child.stderr])
      stream?.on('data', (chunk: Buffer) => {
        this.#lines += chunk.toString()
        for (const look of this.#waiting) look()
      })
  }

  /** The first line of an event. */
  async line(event: string): Promise<Record<string, unknown>> {
    const found = Promise.withResolvers<Record<string, unknown>>()
    const look = (): void => {
      const text = this.#lines.split('\n').find((line) => line.includes(`"event":"${event}"`) && line.endsWith('}'))
      if (text !== undefined) found.resolve(JSON.parse(text) as Record<string, unknown>)
    }
    const ended = (): void => found.reject(new Error(`${this.#name} ended before it logged ${event}:\n${this.#lines}`))
    this.#waiting.add(look)
    this.#child.once('exit', ended)
    look()
    return found.promise.finally(() => this.#waiting.delete(look))
  }

  /** Arguments and titles of the process and of all its descendants, as every user of the machine may read them. */
  lookAtProcesses(): number {
    const family = [this.#child.pid ?? 0]
    const parents = readdirSync('/proc').flatMap((name) =>
      /^\d+$/.test(name) ? [{ pid: Number(name), of: parentOf(name) }] : [],
    )
    for (const pid of family) family.push(...parents.filter((each) => each.of === pid).map((each) => each.pid))
    for (const pid of family)
      for (const file of ['cmdline', 'comm']) this.#shown.add(`${file} of ${this.#name}`, readIfThere(`/proc/${pid}/${file}`))
    return family.length
  }

  async stop(): Promise<void> {
    if (this.#child.exitCode === null && this.#child.signalCode === null) {
      this.#child.kill('SIGTERM')
      await once(this.#child, 'exit')
    }
    this.#shown.add(`lines of ${this.#name}`, this.#lines)
  }
}

const parentOf = (pid: string): number => Number(/^PPid:\s+(\d+)$/m.exec(readIfThere(`/proc/${pid}/status`))?.[1])

function readIfThere(path: string): string {
  try {
    return readFileSync(path, 'utf8')
  } catch {
    return ''
  }
}

async function listening(server: Server | TcpServer): Promise<number> {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return (server.address() as AddressInfo).port
}

/** The registry of the test behind a server that asks for a token, and that repeats a wrong one in its answer. */
export async function registryGate(registryUrl: string, token: string): Promise<{ url: string; stop(): void }> {
  const target = new URL(registryUrl)
  const server = createServer((from: IncomingMessage, to) => {
    const { authorization, host: _, ...headers } = from.headers
    if (authorization !== `Bearer ${token}`)
      return void to.writeHead(401, { 'content-type': 'application/json' }).end(`{"error_code":401,"message":"${authorization}"}`)
    const on = request({ host: target.hostname, port: target.port, path: from.url, method: from.method, headers }, (answer) => {
      to.writeHead(answer.statusCode ?? 500, answer.headers)
      answer.pipe(to)
    })
    on.on('error', () => to.destroy())
    from.pipe(on)
  })
  const port = await listening(server)
  return { url: `http://127.0.0.1:${port}${target.pathname}`, stop: () => void server.close() }
}

/** A server of webhooks that fails, and repeats what it was sent. */
export async function failingTarget(): Promise<{ url: string; stop(): void }> {
  const server = createServer((from, to) => void to.writeHead(500).end(JSON.stringify(from.headers)))
  return { url: `http://127.0.0.1:${await listening(server)}/hook`, stop: () => void server.close() }
}

/** A PostgreSQL that asks for a password and refuses it. */
export async function refusingDatabase(): Promise<{ address: string; stop(): void }> {
  const fields = ['SFATAL', 'VFATAL', 'C28P01', 'Mpassword authentication failed for user "duelog"', '']
  const body = Buffer.from(`${fields.join('\0')}\0`)
  const server = createTcpServer((socket) => {
    let asked = 0
    socket.on('error', () => {})
    socket.on('data', () => {
      // The first message is the start; the second one is the password.
      if (asked++ === 0) return void socket.write(Buffer.from([0x52, 0, 0, 0, 8, 0, 0, 0, 3]))
      const head = Buffer.alloc(5)
      head.write('E')
      head.writeInt32BE(body.length + 4, 1)
      socket.end(Buffer.concat([head, body]))
    })
  })
  return { address: `127.0.0.1:${await listening(server)}`, stop: () => void server.close() }
}

/** Secrets of a running system, besides those of its broker and its certificate. */
export const systemSecrets = {
  registryToken: 'hidden-token-of-the-registry',
  admin: 'hidden-token-of-an-admin',
  viewer: 'hidden-token-of-a-viewer',
  guessed: 'hidden-token-that-is-wrong',
  signingKey: 'whsec_aGlkZGVuLXNpZ25pbmcta2V5LW9mLXdlYmhvb2tzLW5vLTE=',
  database: 'hidden+word/of:the@database',
  header: 'hidden-header-of-a-webhook',
  query: 'hidden-key-in-a-url',
}

type Ask = (path: string, token: string, body?: object) => Promise<string>

/** Lets webhooks fail, waits until the system has said so, and shows what it answers to a viewer, to an admin and to a stranger. */
export async function useSystem(duelog: ShownProcess, shown: Shown, hookUrl: string, ask: Ask): Promise<void> {
  const { admin, viewer, guessed, header, query } = systemSecrets
  // One that fails and repeats its headers, and one that nobody answers.
  const headers = { authorization: `Bearer ${header}`, 'x-api-key': header }
  const ends = { retry: { maxAttempts: 1 }, schedule: { delayMs: 0 } }
  const to = (place: string) => ({ target: { http: { url: `${place}?key=${query}`, headers } } })
  const jobs = { fails: to(hookUrl), away: to('http://127.0.0.1:1/hook') }
  for (const [id, job] of Object.entries(jobs)) await ask(`/v1/jobs/${id}?wait=applied`, admin, { ...ends, ...job })
  await duelog.line('history-not-written')
  const isOver = async (id: string) => (await ask(`/v1/jobs/${id}`, viewer)).includes('"DEAD"')
  for (const id of ['fails', 'away']) await vi.waitUntil(() => isOver(id), { timeout: 60_000, interval: 200 })

  const paths = ['/v1/jobs', '/v1/jobs/fails', '/v1/jobs/fails/runs/1', '/v1/dead-letters', '/v1/settings']
  const open = ['/v1/partitions', '/v1/workers', '/v1/pools', '/v1/runs', '/v1/history', '/v1/stats', '/readyz', '/metrics', '/']
  for (const path of [...paths, ...open, '/openapi.json', '/v1/jobs/no%00']) shown.add(`viewer ${path}`, await ask(path, viewer))
  for (const path of open) shown.add(`admin ${path}`, await ask(path, admin))
  for (const path of paths) shown.add(`stranger ${path}`, await ask(path, guessed))
  shown.add('admin /v1/settings', await ask('/v1/settings', admin))
}

/** Secrets that are refused. */
export const wrongSecrets = {
  word: 'hidden-word-that-is-wrong',
  token: 'hidden-token-that-is-wrong',
  client: 'hidden-client-secret-that-is-wrong',
  short: 'hidden-short',
  signing: 'whsec_hidden-short',
  inUrl: 'hidden-in-an-address',
}

type Env = Record<string, string>
interface Places {
  registryUrl: string
  gateUrl: string
  openBrokers: string
  /** Settings that work: by password, by token, by certificate. */
  right: Env
  token: Env
  certificate: Env
  /** A certificate that the brokers do not know. */
  stranger: Signed
}

/** Settings of processes that do not start, each for one of these secrets. An empty value is none. */
export function wrongSettings({
  registryUrl,
  gateUrl,
  openBrokers,
  right,
  token,
  certificate,
  stranger,
}: Places): Record<string, Env> {
  const { word, token: wrongToken, client, short, signing, inUrl } = wrongSecrets
  const SchemaRegistryUrl = registryUrl
  return {
    password: { ...right, KAFKA_SASL_PASSWORD: word },
    registry: { KAFKA_BROKERS: openBrokers, SCHEMA_REGISTRY_URL: gateUrl, SCHEMA_REGISTRY_TOKEN: wrongToken },
    client: {
      ...{ ...token, SCHEMA_REGISTRY_URL: SchemaRegistryUrl },
      ...{ KAFKA_SASL_OAUTHBEARER_CLIENT_SECRET_FILE: '', KAFKA_SASL_OAUTHBEARER_CLIENT_SECRET: client },
    },
    key: {
      ...{ ...certificate, SCHEMA_REGISTRY_URL: SchemaRegistryUrl },
      ...{ KAFKA_SSL_CERT_FILE: stranger.certFile, KAFKA_SSL_KEY_FILE: stranger.keyFile },
    },
    tokens: { ...right, DUELOG_API_TOKENS: `admin:${short}` },
    signing: { ...right, DUELOG_HTTP_SIGNING_KEY: signing },
    history: { ...right, DUELOG_HISTORY_URL: `http://duelog:${inUrl}@127.0.0.1/history` },
    address: { ...right, SCHEMA_REGISTRY_URL: `http://duelog:${inUrl}@127.0.0.1:1` },
  }
}

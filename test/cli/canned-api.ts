/** An API that gives canned answers, for tests of what commands print. */
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterAll, beforeAll } from 'vitest'
import { main } from '../../src/program/cli/program.ts'
import { FakeTerminal } from './fake-terminal.ts'

export interface Canned {
  status?: number
  body: unknown
}

export interface CannedApi {
  /** Method and path of each request so far, such as `GET /v1/pools`. */
  asked: string[]
  /** Runs the program against it. */
  run(args: string[], isTTY?: boolean): Promise<{ code: number; out: string; err: string }>
}

/** `answer` gets method and path, without the query. */
export function cannedApi(answer: (request: string) => Canned): CannedApi {
  const asked: string[] = []
  const server = createServer((request, response) => {
    const name = `${request.method} ${decodeURIComponent(request.url?.split('?')[0] ?? '')}`
    asked.push(name)
    const { status = 200, body } = answer(name)
    const type = status < 400 ? 'application/json' : 'application/problem+json'
    request.resume().on('end', () => response.writeHead(status, { 'content-type': type }).end(JSON.stringify(body)))
  })
  beforeAll(() => new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve)))
  afterAll(() => void server.close())
  return {
    asked,
    async run(args, isTTY = false) {
      const env = { DUELOG_URL: `http://127.0.0.1:${(server.address() as AddressInfo).port}` }
      const terminal = new FakeTerminal({ env, isTTY })
      const code = await main(args, terminal)
      return { code, out: terminal.out.join(''), err: terminal.err.join('') }
    },
  }
}

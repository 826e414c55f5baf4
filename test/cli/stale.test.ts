/** What people are told of an answer that a copy gave. */
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { expect, it } from 'vitest'
import { duelogHere } from './built-program.ts'

it.for([
  ['jobs', 'list', '--stale'],
  ['runs', 'list', '--dead', '--stale'],
])('duelog %s %s %s says on stderr which partition a copy answered for', async (args, test) => {
  const asked: string[] = []
  const server = createServer((request, response) => {
    asked.push(request.url ?? '')
    response.setHeader('duelog-stale', '0;behind=2, 3;behind=120, 4;behind=unknown')
    response.end(JSON.stringify({ jobs: [], runs: [], cursor: null }))
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  test.onTestFinished(() => void server.close())
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  const ended = await duelogHere([...args, '--url', url], { env: {} })
  expect(ended.code).toBe(0)
  expect(asked).toEqual([expect.stringContaining('stale=true')])
  expect(ended.err.split('\n').slice(0, 3)).toEqual([
    'Partition 0 was read from a copy that lacks 2 records of the logs.',
    'Partition 3 was read from a copy that lacks 120 records of the logs.',
    'Partition 4 was read from an owner that may have been replaced.',
  ])
})

/** Notes on answers that a standby gave. */
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { expect, it } from 'vitest'
import { duelogHere } from './built-program.ts'

it.for([
  ['jobs', 'list', '--stale'],
  ['runs', 'list', '--dead', '--stale'],
])('duelog %s %s %s says on stderr for which partitions a standby answered', async (args, test) => {
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
    'Partition 0 was read from a standby that is 2 records behind.',
    'Partition 3 was read from a standby that is 120 records behind.',
    'Partition 4 was read from an owner that may have been replaced.',
  ])
})

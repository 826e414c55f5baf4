/** What a child process and its parent tell each other. */
import { EventEmitter } from 'node:events'
import { expect, test, vi } from 'vitest'
import { readConfig } from '../../src/ground/config/config.ts'
import { DuelogError } from '../../src/ground/errors/index.ts'
import {
  answerPlan,
  type Channel,
  environmentOf,
  failureOf,
  isPlanQuestion,
  planOf,
  readyChild,
  tellFailed,
  tellReady,
} from '../../src/program/system/role-child.ts'

/** The two ends of a channel that carries JSON, as that of a child process does. */
function channel() {
  const child = new EventEmitter()
  const heard: unknown[] = []
  const onQuestion = Promise.withResolvers<void>()
  const side: Channel = Object.assign(child, {
    send(message: object, onSent: (error: Error | null) => void) {
      heard.push(JSON.parse(JSON.stringify(message)))
      if (isPlanQuestion(message)) onQuestion.resolve()
      onSent(null)
    },
  })
  const toChild = (message: object) => child.emit('message', JSON.parse(JSON.stringify(message)))
  return { side, heard, toChild, asked: onQuestion.promise }
}

test('a child gets its settings as they were read', async () => {
  const { side, toChild, asked } = channel()
  const config = readConfig({ DUELOG_API_TOKENS: 'admin:adminadminadminadmin', DUELOG_ROLES: 'api,history' })
  const cluster = { brokers: ['b:1'], registryUrl: 'http://r' }
  const planned = planOf(side)
  await asked
  answerPlan({ config, cluster, name: 'front.instance', engineUrl: 'http://127.0.0.1:1' }, toChild)
  const plan = await planned
  expect(plan).toMatchObject({ name: 'front.instance', engineUrl: 'http://127.0.0.1:1', cluster: { brokers: ['b:1'] } })
  expect(plain(plan.config)).toEqual(plain(config))
})

/** Settings without a value are absent in JSON. */
const plain = (config: object) => Object.fromEntries(Object.entries(config).filter(([, value]) => value !== undefined))

test('a parent hears where a child is, or why it cannot start', async () => {
  const { side, heard } = channel()
  tellReady(side, { instance: 'duelog@a:1:b', url: 'http://a:1' })
  await tellFailed(side, new DuelogError('bad-config', 'The port is taken.'))
  await tellFailed(side, new Error('Something else.'))
  expect(heard.map(readyChild)).toEqual([{ instance: 'duelog@a:1:b', url: 'http://a:1' }, undefined, undefined])
  const failures = heard.map(failureOf)
  expect(failures.map((failure) => failure?.message)).toEqual([undefined, 'The port is taken.', 'Something else.'])
  expect(failures.map((failure) => (failure as DuelogError | undefined)?.code)).toEqual([undefined, 'bad-config', undefined])
})

test('a child has the cache of compiled code that the environment names, or that of the data folder', () => {
  const config = readConfig({ DUELOG_DATA_DIR: '/var/duelog' })
  vi.stubEnv('NODE_COMPILE_CACHE', undefined)
  expect(environmentOf(config).NODE_COMPILE_CACHE).toBe('/var/duelog/compiled')
  vi.stubEnv('NODE_COMPILE_CACHE', '/var/cache/node')
  expect(environmentOf(config).NODE_COMPILE_CACHE).toBe('/var/cache/node')
})

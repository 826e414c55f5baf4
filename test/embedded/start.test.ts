import { once } from 'node:events'
import { lstatSync, readdirSync } from 'node:fs'
import { type IncomingMessage, request } from 'node:http'
import { join } from 'node:path'
import { Kafka, logLevel } from 'kafkajs'
import { expect, test } from 'vitest'
import { DuelogError } from '../../src/ground/errors/errors.ts'
import type { Embedded } from '../../src/program/embedded/options.ts'
import { startEmbedded } from '../../src/program/embedded/start.ts'
import { freePorts } from '../setup/free-ports.ts'
import { lives, optionsFor, pidIn, temporaryFolder, written } from './harness.ts'

/** Runs `work` with an admin client of the broker. */
async function administer<T>(embedded: Embedded, work: (admin: ReturnType<Kafka['admin']>) => Promise<T>): Promise<T> {
  const admin = new Kafka({ brokers: embedded.brokers ?? [], logLevel: logLevel.NOTHING }).admin()
  await admin.connect()
  try {
    return await work(admin)
  } finally {
    await admin.disconnect()
  }
}

async function registerSchema(embedded: Embedded, subject: string, name: string): Promise<number> {
  const response = await fetch(`${embedded.registryUrl}/subjects/${subject}/versions`, {
    method: 'POST',
    headers: { 'content-type': 'application/vnd.schemaregistry.v1+json' },
    body: JSON.stringify({ schema: JSON.stringify({ type: 'record', name, fields: [] }) }),
  })
  return ((await response.json()) as { id: number }).id
}

test('topics and schema ids survive a restart on other ports, and only one Duelog at a time uses the folder', async () => {
  const dataDir = await temporaryFolder()
  const { options } = await optionsFor(dataDir)
  const first = await startEmbedded(options)
  let secondId: number
  let pids: number[]
  try {
    expect(first.brokers).toEqual([`127.0.0.1:${options.kafkaPort}`])
    expect(
      await administer(first, (admin) =>
        admin.createTopics({ topics: [{ topic: 'kept', numPartitions: 3 }], waitForLeaders: false }),
      ),
    ).toBe(true)
    await registerSchema(first, 'one', 'One')
    secondId = await registerSchema(first, 'two', 'Two')
    pids = [await pidIn(dataDir, 'kafka'), await pidIn(dataDir, 'registry')]
    expect(pids.map(lives)).toEqual([true, true])
    // Nobody else on this machine reads what broker and registry write. The cache of the registry's server has a mode of its own, inside.
    const written = readdirSync(dataDir, { recursive: true, withFileTypes: true })
    expect(written.length).toBeGreaterThan(20)
    const open = written
      .map(({ parentPath, name }) => join(parentPath, name))
      .filter((path) => !path.includes('vertx-cache'))
      .filter((path) => ((lstatSync(path, { throwIfNoEntry: false })?.mode ?? 0) & 0o077) !== 0)
    expect(open).toEqual([])

    const second = startEmbedded((await optionsFor(dataDir)).options)
    await expect(second).rejects.toThrow(`The data folder ${dataDir} is in use by the process ${process.pid}, another Duelog;`)

    const elsewhere = await temporaryFolder()
    const samePort = startEmbedded({ ...(await optionsFor(elsewhere)).options, kafkaPort: options.kafkaPort })
    await expect(samePort).rejects.toThrow(
      `Port ${options.kafkaPort} of 127.0.0.1, wanted for the embedded broker, is taken by another process.`,
    )
    await expect(samePort).rejects.toThrow('DUELOG_EMBEDDED_KAFKA_PORT')
  } finally {
    await Promise.all([first.stop(), first.stop()])
  }
  expect(pids.map(lives)).toEqual([false, false])

  const [kafkaPort, registryPort] = await freePorts()
  const due = Promise.withResolvers<void>()
  const next = await startEmbedded({ ...options, kafkaPort, registryPort, registryDue: due.promise })
  try {
    // The broker is there and the registry is not: nobody has waited for it.
    await expect(pidIn(dataDir, 'registry')).rejects.toThrow()
    const { topics } = await administer(next, (admin) => admin.fetchTopicMetadata({ topics: ['kept'] }))
    expect(topics[0]?.partitions).toHaveLength(3)
    due.resolve()
    await next.registryUp
    expect(await registerSchema(next, 'two', 'Two')).toBe(secondId)
    expect(await registerSchema(next, 'three', 'Three')).toBe(secondId + 1)
  } finally {
    await next.stop()
  }
})

test('the owner is notified of the end of the broker', async () => {
  const dataDir = await temporaryFolder()
  const { options } = await optionsFor(dataDir)
  const exit = Promise.withResolvers<DuelogError>()
  const embedded = await startEmbedded({ ...options, wantRegistry: false, onExit: exit.resolve })
  expect(embedded.registryUrl).toBeUndefined()
  process.kill(await pidIn(dataDir, 'kafka'), 'SIGKILL')
  const error = await exit.promise
  expect(error).toBeInstanceOf(DuelogError)
  expect(error.message).toContain('ended by itself')
  await embedded.stop()
})

test('a new schema id survives a kill right after, and the next call starts the registry again', async () => {
  const dataDir = await temporaryFolder()
  const { options, lines, said } = await optionsFor(dataDir)
  const exits: Error[] = []
  const embedded = await startEmbedded({ ...options, wantKafka: false, onExit: (error) => exits.push(error) })
  try {
    expect(embedded.brokers).toBeUndefined()
    const id = await registerSchema(embedded, 'one', 'One')
    process.kill(await pidIn(dataDir, 'registry'), 'SIGKILL')
    await said('embedded-registry-failed')
    expect(lines.at(-1)?.message).toContain('ended by itself')
    expect(await registerSchema(embedded, 'two', 'Two')).toBe(id + 1)
    expect(await registerSchema(embedded, 'one', 'One')).toBe(id)
    expect(exits).toEqual([])
  } finally {
    await embedded.stop()
  }
})

test('a registry that nobody calls ends, and the first of many calls starts it again, with all its schemas', async () => {
  const dataDir = await temporaryFolder()
  const { options, lines, said } = await optionsFor(dataDir)
  const embedded = await startEmbedded({ ...options, wantKafka: false, registryIdleMs: 1 })
  try {
    await said('embedded-registry-asleep')
    await expect(pidIn(dataDir, 'registry')).rejects.toThrow()
    const names = Array.from({ length: 20 }, (_, index) => `S${index}`)
    const ids = await Promise.all(names.map((name) => registerSchema(embedded, name, name)))
    expect(new Set(ids).size).toBe(20)
    await said('embedded-registry-asleep', 2)
    await expect(pidIn(dataDir, 'registry')).rejects.toThrow()

    // A call whose body comes slowly holds it.
    const body = JSON.stringify({ schema: JSON.stringify({ type: 'record', name: 'S7', fields: [] }) })
    const slow = request(`${embedded.registryUrl}/subjects/S7/versions`, {
      method: 'POST',
      headers: { 'content-type': 'application/vnd.schemaregistry.v1+json', 'content-length': body.length },
    })
    const answered = once(slow, 'response')
    slow.write(body.slice(0, 20))
    await said('embedded-registry-up', 3)
    const list = await fetch(`${embedded.registryUrl}/subjects`)
    expect(((await list.json()) as string[]).toSorted()).toEqual(names.toSorted())
    slow.end(body.slice(20))
    const [response] = (await answered) as [IncomingMessage]
    expect(JSON.parse((await response.setEncoding('utf8').toArray()).join(''))).toEqual({ id: ids[7] })
    await said('embedded-registry-asleep', 3)
    expect(lines.filter(({ level }) => level !== 'info')).toEqual([])
  } finally {
    await embedded.stop()
  }
})

test('a stop while a call starts the registry leaves none behind, and ends the call', async () => {
  const dataDir = await temporaryFolder()
  const { options, said } = await optionsFor(dataDir)
  const embedded = await startEmbedded({ ...options, wantKafka: false, registryIdleMs: 1 })
  await said('embedded-registry-asleep')
  const call = fetch(`${embedded.registryUrl}/subjects`)
  const failure = expect(call).rejects.toThrow()
  await written(dataDir, 'registry.pid')
  const pid = await pidIn(dataDir, 'registry')
  await embedded.stop()
  await failure
  expect(lives(pid)).toBe(false)
  await expect(pidIn(dataDir, 'registry')).rejects.toThrow()
})

test('nothing starts if nothing is wanted', async () => {
  const { options } = await optionsFor('/nowhere')
  const embedded = await startEmbedded({ ...options, wantKafka: false, wantRegistry: false })
  expect(embedded).toMatchObject({ brokers: undefined, registryUrl: undefined })
  await embedded.stop()
})

test('a stop during the start of the registry leaves none behind', async () => {
  const dataDir = await temporaryFolder()
  const { options } = await optionsFor(dataDir)
  const exits: Error[] = []
  const embedded = await startEmbedded({ ...options, registryDue: Promise.resolve(), onExit: (error) => exits.push(error) })
  await embedded.stop()
  await expect(embedded.registryUp).rejects.toThrow()
  await expect(pidIn(dataDir, 'registry')).rejects.toThrow()
  expect(exits).toEqual([])

  const waiting = await startEmbedded({ ...options, registryDue: new Promise(() => {}), onExit: (error) => exits.push(error) })
  await waiting.stop()
  await expect(waiting.registryUp).rejects.toThrow('before it started')
  expect(exits).toEqual([])
})

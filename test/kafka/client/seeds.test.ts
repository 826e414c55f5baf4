/** The seed addresses of later clients: if the configured broker is lost, other brokers are known by then. */
import { expect, onTestFinished, test } from 'vitest'
import { WatchedBrokers } from '../../../src/log/kafka/client/watched-brokers.ts'
import { startProxy } from '../../tools/tcp-proxy.ts'
import { brokers, makeTopics, openLog, openWriter } from '../harness.ts'

test('a client that starts while the only configured broker is down begins at a broker that other clients use', async () => {
  const proxy = await startProxy({ target: brokers[0] ?? '' })
  // All connections except the first one use the addresses that brokers advertise.
  const log = openLog({ brokers: [proxy.address] })
  const { topic } = await makeTopics(['topic'])
  const writer = await openWriter(log)
  await writer.write([{ topic, partition: 0, key: null, value: null }])
  await proxy.close()
  const admin = await log.admin()
  onTestFinished(() => admin.close())
  expect(await admin.offsets(topic)).toEqual([{ partition: 0, earliest: 0, next: 1 }])
})

test('silent brokers come last', async () => {
  const timeouts = { quickMs: 40, slowMs: 60_000, joinMs: 60_000 }
  const silent = await startProxy({ target: brokers[0] ?? '', holdRequest: () => true })
  onTestFinished(() => silent.close())
  const watched = new WatchedBrokers({ timeouts, logger: { info() {}, warn() {} } })
  const open = (address: string) => {
    const [host = '', port = ''] = address.split(':')
    const socket = watched.open({ host, port: Number(port), ssl: undefined as never, onConnect: () => {} })
    onTestFinished(() => void socket.destroy())
    return socket
  }
  open(brokers[0] ?? '')
  expect(watched.seeds([silent.address])).toEqual([silent.address, brokers[0]])
  const fell = new Promise<void>((resolve) => void watched.onChange(resolve))
  const metadata = Buffer.alloc(12)
  metadata.writeInt32BE(8, 0)
  metadata.writeInt16BE(3, 4)
  open(silent.address)
    .on('error', () => {})
    .write(metadata)
  await fell
  expect(watched.seeds([silent.address])).toEqual([brokers[0], silent.address])
})

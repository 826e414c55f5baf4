/**
 * Asks the brokers for their leaders, with only the two requests that tell it (Kafka protocol, FindCoordinator v0 and
 * DescribeQuorum v0). A fault must hit the broker that leads, with any client that the product uses.
 */
import { connect } from 'node:net'
import type { Network } from '../network/network.ts'
import { type BrokerPlace, brokerOf } from '../places.ts'

const answerMsMax = 5_000
const patienceMs = 60_000
const pauseMs = 250

/** Resolves with the broker that coordinates a consumer group. */
export function groupCoordinator(network: Network, group: string): Promise<BrokerPlace> {
  const key = Buffer.from(group)
  const head = Buffer.alloc(12)
  head.writeInt16BE(10, 0)
  head.writeInt32BE(1, 4)
  head.writeInt16BE(-1, 8)
  head.writeInt16BE(key.length, 10)
  return ask(network, Buffer.concat([head, key]), (answer) => {
    const errorCode = answer.readInt16BE(4)
    return errorCode === 0 ? answer.readInt32BE(6) : undefined
  })
}

/** Resolves with the broker whose controller leads the quorum. */
export function controllerLeader(network: Network): Promise<BrokerPlace> {
  const topic = Buffer.from('__cluster_metadata')
  const head = Buffer.alloc(11)
  head.writeInt16BE(55, 0)
  head.writeInt32BE(1, 4)
  head.writeInt16BE(-1, 8)
  // Compact arrays and strings have their length plus 1 first. The zeros at the ends are empty tagged fields.
  const body = Buffer.concat([head, Buffer.from([2, topic.length + 1]), topic, Buffer.from([2, 0, 0, 0, 0, 0, 0, 0])])
  return ask(network, body, (answer) => {
    if (answer.readInt16BE(5) !== 0 || answer.length < 20 + topic.length) return undefined
    const leader = answer.readInt32BE(16 + topic.length)
    return leader > 0 ? leader : undefined
  })
}

/** Asks one broker after the other until one knows the answer. */
async function ask(network: Network, request: Buffer, read: (answer: Buffer) => number | undefined): Promise<BrokerPlace> {
  const until = Date.now() + patienceMs
  for (;;) {
    for (const address of network.bootstrap('outside')) {
      const answer = await exchange(address, request).catch(() => undefined)
      const nodeId = answer === undefined ? undefined : read(answer)
      if (nodeId !== undefined) return brokerOf(nodeId)
    }
    if (Date.now() > until) throw new Error('No broker could say who leads.')
    await new Promise((resolve) => setTimeout(resolve, pauseMs))
  }
}

function exchange(address: string, request: Buffer): Promise<Buffer> {
  const [host, port] = address.split(':')
  const size = Buffer.alloc(4)
  size.writeInt32BE(request.length)
  return new Promise((resolve, reject) => {
    const socket = connect(Number(port), host, () => socket.write(Buffer.concat([size, request])))
    let answer = Buffer.alloc(0)
    socket.setTimeout(answerMsMax, () => socket.destroy(new Error('no answer')))
    socket.on('data', (data) => {
      answer = Buffer.concat([answer, data])
      if (answer.length < 4 || answer.length < 4 + answer.readInt32BE(0)) return
      resolve(answer.subarray(4))
      socket.destroy()
    })
    socket.once('error', reject)
    socket.once('close', () => reject(new Error('the connection was closed')))
  })
}

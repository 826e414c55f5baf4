/**
 * What the whole test run shares: a folder for the package, once a test packs it, and the broker and the registry: those of the environment where DUELOG_TEST_BROKERS is set (then with
 * DUELOG_TEST_REGISTRY), otherwise embedded ones in a temporary folder, which end with the run.
 */
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pino } from 'pino'
import { startEmbedded } from '../../src/program/embedded/start.ts'
import { freePorts } from './free-ports.ts'

export default async function setup(): Promise<() => Promise<void>> {
  const packedDir = await mkdtemp(join(tmpdir(), 'duelog-packed-'))
  process.env.DUELOG_TEST_PACKED = packedDir
  const end = () => rm(packedDir, { recursive: true, force: true })
  if (process.env.DUELOG_TEST_BROKERS) return end
  const dataDir = await mkdtemp(join(tmpdir(), 'duelog-test-'))
  const [kafkaPort, registryPort] = await freePorts()
  const embedded = await startEmbedded({
    dataDir,
    kafkaPort,
    registryPort,
    wantKafka: true,
    wantRegistry: true,
    // The topics of all tests stay until the end of the run. There are thousands of them, which fill the usual heap.
    kafkaHeapMb: 1_024,
    // All tests take half an hour.
    optimizesCode: true,
    logger: pino({ level: 'warn' }),
    onProgress: (message) => console.log(message),
  })
  // Set before the first fork: the workers inherit the environment.
  process.env.DUELOG_TEST_BROKERS = embedded.brokers?.join(',')
  process.env.DUELOG_TEST_REGISTRY = embedded.registryUrl
  return async () => {
    await embedded.stop()
    await rm(dataDir, { recursive: true, force: true })
    await end()
  }
}

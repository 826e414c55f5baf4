/** The schema registry of the drill: the program of the embedded registry, at its own place. */
import { mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import { registryVersion } from '../../../src/program/embedded/artifacts.ts'
import { childEnvironment } from '../../../src/program/embedded/java.ts'
import type { Places } from '../network/network.ts'
import { Program } from '../system/program.ts'
import type { Tools } from './tools.ts'

export async function startRegistry(
  network: Places,
  tools: Tools,
  folder: string,
  onStart: (program: Program) => void,
): Promise<Program> {
  const home = join(folder, 'registry')
  await mkdir(join(home, 'tmp'), { recursive: true })
  const registry = new Program(network, {
    title: 'registry',
    place: 'registry',
    program: tools.java,
    args: [
      ...['-Xms48m', '-Xmx160m', '-XX:+UseSerialGC', '-XX:-UsePerfData', '-XX:TieredStopAtLevel=1'],
      `-Djava.io.tmpdir=${join(home, 'tmp')}`,
      ...['-jar', join(tools.registryApp, `apicurio-registry-app-${registryVersion}-runner.jar`)],
    ],
    env: {
      ...childEnvironment(process.env),
      QUARKUS_HTTP_HOST: network.host('registry'),
      QUARKUS_HTTP_PORT: String(network.registry('registry').port),
      REGISTRY_DATASOURCE_URL: 'jdbc:h2:file:./registry;WRITE_DELAY=0',
      QUARKUS_DATASOURCE_JDBC_INITIAL_SIZE: '2',
      QUARKUS_DATASOURCE_JDBC_MIN_SIZE: '2',
      QUARKUS_DATASOURCE_JDBC_MAX_SIZE: '8',
    },
    folder: home,
    ready: /Listening on: http/,
  })
  onStart(registry)
  await registry.start()
  return registry
}

/** Base URL of the registry for programs at a place. */
export function registryUrl(network: Places, place: Parameters<Places['registry']>[0]): string {
  const { host, port } = network.registry(place)
  return `http://${host}:${port}/apis/ccompat/v7`
}

/**
 * Java and the jars of broker and registry, as the embedded ones use them. They are downloaded before the drill isolates itself
 * from the network.
 */
import { mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import { artifactFolder } from '../../../src/program/embedded/artifacts.ts'
import { classArchiveArguments, findJava } from '../../../src/program/embedded/java.ts'
import type { StartContext } from '../../../src/program/embedded/options.ts'

export interface Tools {
  java: string
  kafkaJars: string
  registryApp: string
  /** Arguments that use the class archive, if a run of the embedded broker has made one. */
  classArchive: string[]
}

export async function findTools(folder: string, say: (line: string) => void): Promise<Tools> {
  const logDir = join(folder, 'tools')
  await mkdir(logDir, { recursive: true })
  const java = await findJava(process.env)
  const context = { env: process.env, logDir, onProgress: say } as StartContext
  const kafkaJars = await artifactFolder('kafka', context)
  const registryApp = await artifactFolder('registry', context)
  const archive = await classArchiveArguments(kafkaJars, java.version)
  // Without an archive none is made: three brokers that end would overwrite the same file.
  const classArchive = archive.some((argument) => argument.startsWith('-XX:SharedArchiveFile')) ? archive : []
  return { java: java.path, kafkaJars, registryApp, classArchive }
}

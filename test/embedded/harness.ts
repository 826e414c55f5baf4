/** What the tests of the embedded broker and registry share: folders, options, stand-in programs, and looking at processes. */
import { createHash } from 'node:crypto'
import { existsSync, readFileSync, watch } from 'node:fs'
import { chmod, mkdtemp, readFile, realpath, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { onTestFinished } from 'vitest'
import type { EmbeddedOptions } from '../../src/program/embedded/options.ts'
import { freePorts } from '../setup/free-ports.ts'

export type Lines = { level: string; fields: unknown; message: string | undefined }[]

/** A temporary folder that is removed after the test. */
export async function temporaryFolder(): Promise<string> {
  const folder = await realpath(await mkdtemp(join(tmpdir(), 'duelog-embedded-')))
  onTestFinished(() => rm(folder, { recursive: true, force: true }))
  return folder
}

/** Options with free ports, the lines that are logged, and a promise of as many lines with an event. */
export async function optionsFor(
  dataDir: string,
): Promise<{ options: EmbeddedOptions; lines: Lines; said(event: string, times?: number): Promise<void> }> {
  const [kafkaPort, registryPort] = await freePorts()
  const lines: Lines = []
  const waiting = new Set<() => void>()
  const log = (level: string) => (fields: unknown, message?: string) => {
    lines.push({ level, fields, message })
    for (const look of waiting) look()
  }
  const said = (event: string, times = 1): Promise<void> =>
    new Promise((resolve) => {
      const look = (): void => {
        if (lines.filter(({ fields }) => (fields as { event?: string }).event === event).length < times) return
        waiting.delete(look)
        resolve()
      }
      waiting.add(look)
      look()
    })
  const logger = { info: log('info'), warn: log('warn'), error: log('error') } as unknown as EmbeddedOptions['logger']
  return { options: { dataDir, kafkaPort, registryPort, wantKafka: true, wantRegistry: true, logger }, lines, said }
}

/** Writes an executable shell script of that name and answers its path. */
export async function program(folder: string, name: string, script: string): Promise<string> {
  const path = join(folder, name)
  await writeFile(path, `#!/bin/sh\n${script}\n`)
  await chmod(path, 0o755)
  return path
}

/** A folder with a list of the SHA-256 of jars with these contents, for broker and registry. */
export async function jarList(folder: string, jars: Record<string, string>): Promise<string> {
  const hash = (content: string): string => createHash('sha256').update(content).digest('hex')
  const list = Object.entries(jars).map(([file, content]) => `${hash(content)}  ${file}\n`)
  for (const name of ['kafka', 'registry']) await writeFile(join(folder, `${name}.sha256`), list.join(''))
  return folder
}

/** The pid in a pid file of the data folder. */
export async function pidIn(dataDir: string, name: 'kafka' | 'registry'): Promise<number> {
  return Number(await readFile(join(dataDir, `${name}.pid`), 'utf8'))
}

/** Whether a process runs. One that has ended and only waits for its parent to look does not. */
export function lives(pid: number): boolean {
  if (process.platform === 'linux') return existsSync(`/proc/${pid}`) && readFileSync(`/proc/${pid}/cmdline`).length > 0
  try {
    return process.kill(pid, 0)
  } catch {
    return false
  }
}

/** Resolves when the file is there and has something in it. */
export async function written(folder: string, name: string): Promise<void> {
  const there = Promise.withResolvers<void>()
  const look = (): void => {
    if (existsSync(join(folder, name)) && readFileSync(join(folder, name)).length > 0) there.resolve()
  }
  const watcher = watch(folder, look)
  look()
  await there.promise
  watcher.close()
}

/** Resolves when the file is gone. */
export async function removed(folder: string, name: string): Promise<void> {
  const gone = Promise.withResolvers<void>()
  const watcher = watch(folder, () => existsSync(join(folder, name)) || gone.resolve())
  if (!existsSync(join(folder, name))) gone.resolve()
  await gone.promise
  watcher.close()
}

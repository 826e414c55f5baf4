import { mkdir, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { delimiter, join } from 'node:path'
import { expect, test } from 'vitest'
import { artifactFolder, checkJars, jarLists, kafkaVersion, registryVersion } from '../../src/program/embedded/artifacts.ts'
import { lockFolder, waitForFolder } from '../../src/program/embedded/folder-lock.ts'
import type { StartContext } from '../../src/program/embedded/options.ts'
import { jarList, optionsFor, program, temporaryFolder } from './harness.ts'

const pomOf = (name: string) => readFile(new URL(`../../src/program/embedded/${name}.pom.xml`, import.meta.url), 'utf8')

test('the POMs pin the versions that the program names', async () => {
  expect(await pomOf('kafka')).toContain(`<version>${kafkaVersion}</version>`)
  expect(await pomOf('registry')).toContain(`<version>${registryVersion}</version>`)
})

test('two processes that want the same jars at once download them once, and the rest of a crashed download is removed', async () => {
  const folder = await temporaryFolder()
  const cache = join(folder, 'duelog')
  await mkdir(join(cache, 'unfinished-abc'), { recursive: true })
  await program(
    folder,
    'mvn',
    `echo called >> ${folder}/calls; for a; do case $a in -Dduelog.target=*) echo jar > "\${a#*=}/some.jar";; esac; done
echo 'Downloaded from central: https://repo.example.org/some.jar (5.1 MB at 3 MB/s)'`,
  )
  const said: string[] = []
  const { options } = await optionsFor(folder)
  const context: StartContext = {
    ...options,
    java: 'java',
    javaVersion: 'test',
    partitionsDefault: 4,
    kafkaHeapMb: 384,
    jarLists: await jarList(folder, { 'some.jar': 'jar\n' }),
    optimizesCode: false,
    env: { PATH: `${folder}${delimiter}/bin${delimiter}/usr/bin`, XDG_CACHE_HOME: folder },
    logDir: folder,
    onProgress: (message: string) => void said.push(message),
  }
  const [one, two] = await Promise.all([artifactFolder('kafka', context), artifactFolder('kafka', context)])
  expect(one).toBe(two)
  expect(await readdir(one)).toEqual(['some.jar'])
  expect(await readdir(cache)).toHaveLength(1)
  expect(await readFile(join(folder, 'calls'), 'utf8')).toBe('called\n')
  expect(said).toEqual([`Fetching Apache Kafka ${kafkaVersion} (44 MB, this once) …`, 'Fetched some.jar (5.1 MB)'])
})

test('jars that differ from the list of this version are refused: another content, one too many, one too few', async () => {
  const folder = await temporaryFolder()
  await mkdir(join(folder, 'jars', 'lib'), { recursive: true })
  const jars = join(folder, 'jars')
  await writeFile(join(jars, 'a.jar'), 'a')
  await writeFile(join(jars, 'lib', 'b.jar'), 'b')
  await writeFile(join(jars, 'classes.jsa'), 'made by us')
  const lists = await jarList(folder, { 'a.jar': 'a', 'lib/b.jar': 'b' })
  await checkJars('kafka', jars, lists)
  await writeFile(join(jars, 'lib', 'b.jar'), 'c')
  await expect(checkJars('kafka', jars, lists)).rejects.toMatchObject({
    code: 'embedded-failed',
    message: expect.stringContaining(`${join(jars, 'lib', 'b.jar')} has another SHA-256`),
  })
  await rm(join(jars, 'lib', 'b.jar'))
  await expect(checkJars('kafka', jars, lists)).rejects.toThrow('is missing')
  await writeFile(join(jars, 'lib', 'b.jar'), 'b')
  await writeFile(join(jars, 'more.jar'), '')
  await expect(checkJars('kafka', jars, lists)).rejects.toThrow('more.jar does not belong')
})

test.each(['kafka', 'registry'])('the list of %s names jars of the versions that the POM pins', async (name) => {
  const list = await readFile(join(jarLists, `${name}.sha256`), 'utf8')
  expect(
    list
      .trimEnd()
      .split('\n')
      .every((line) => /^[0-9a-f]{64} {2}\S+\.jar$/.test(line)),
  ).toBe(true)
  expect(list).toContain(name === 'kafka' ? `kafka-clients-${kafkaVersion}.jar` : `apicurio-registry-app-${registryVersion}`)
})

test('a folder has one holder, which is named, and the next in line gets it when it is released', async () => {
  const folder = await temporaryFolder()
  const first = await lockFolder(folder)
  if (first.state !== 'held') throw new Error('not held')
  expect(await lockFolder(folder)).toEqual({ state: 'taken', pid: process.pid })
  const waiting = waitForFolder(folder)
  await first.release()
  await first.release()
  const second = await waiting
  expect((await lockFolder(folder)).state).toBe('taken')
  await second.release()
})

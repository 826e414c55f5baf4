import { existsSync } from 'node:fs'
import { mkdir, readFile, symlink, writeFile } from 'node:fs/promises'
import { delimiter, join } from 'node:path'
import { describe, expect, test } from 'vitest'
import type { DuelogError } from '../../src/ground/errors/errors.ts'
import { requireSpace } from '../../src/program/embedded/data-folder.ts'
import { majorVersionOf } from '../../src/program/embedded/java.ts'
import type { EmbeddedOptions } from '../../src/program/embedded/options.ts'
import { startEmbedded } from '../../src/program/embedded/start.ts'
import { jarList, optionsFor, program, temporaryFolder } from './harness.ts'

/** The code and sentence with which a start is refused; whatever did start is stopped. */
async function refusal(options: EmbeddedOptions): Promise<{ code: string; message: string }> {
  const started = await startEmbedded(options).catch((error: DuelogError) => error)
  if (started instanceof Error) return { code: started.code, message: started.message }
  await started.stop()
  throw new Error('the start was not refused')
}

const javaOf17 = '[ "$1" = -version ] && { echo \'openjdk version "17.0.1"\' >&2; exit 0; }'

/** Options with a data folder, and an environment whose PATH holds only the programs given, and a shell's own few. */
async function withPrograms(programs: Record<string, string>) {
  const folder = await temporaryFolder()
  const bin = join(folder, 'bin')
  await mkdir(bin)
  for (const [name, script] of Object.entries(programs)) await program(bin, name, script)
  const tools = join(folder, 'tools')
  await mkdir(tools)
  for (const tool of ['sleep', 'rm', 'mkdir']) {
    const from = (process.env.PATH ?? '').split(delimiter).map((path) => join(path, tool))
    await symlink(from.find(existsSync) ?? tool, join(tools, tool))
  }
  const { options } = await optionsFor(join(folder, 'data'))
  return { ...options, env: { PATH: `${bin}${delimiter}${tools}`, HOME: folder } }
}

describe('Java', () => {
  test('that is missing is reported with what to install', async () => {
    const { code, message } = await refusal(await withPrograms({}))
    expect(code).toBe('embedded-failed')
    expect(message).toMatch(/need Java, and there is no `java` on the PATH\. Install Java 17 or later/)
  })

  test('that JAVA_HOME does not contain is reported with what to install', async () => {
    const options = await withPrograms({ java: javaOf17 })
    const { message } = await refusal({ ...options, env: { ...options.env, JAVA_HOME: '/nowhere' } })
    expect(message).toContain('JAVA_HOME is /nowhere')
  })

  test('that is too old is refused', async () => {
    const { code, message } = await refusal(await withPrograms({ java: 'echo \'openjdk version "11.0.2" 2019-01-15\' >&2' }))
    expect(code).toBe('embedded-failed')
    expect(message).toMatch(/is Java 11, which is too old .* Install Java 17 or later/)
  })

  test.each([
    ['openjdk version "17.0.15" 2025-04-15', 17],
    ['java version "1.8.0_402"', 8],
    ['openjdk version "25" 2025-09-16', 25],
    ['hello', undefined],
  ])('reports its version: %s', (said, version) => {
    expect(majorVersionOf(said)).toBe(version)
  })
})

describe('Maven', () => {
  test('that is missing is reported if something must be downloaded', async () => {
    const { code, message } = await refusal(await withPrograms({ java: javaOf17 }))
    expect(code).toBe('embedded-failed')
    expect(message).toMatch(/^Maven is needed once to fetch Apache Kafka [\d.]+, and there is no `mvn` on the PATH\./)
  })

  test('that fails is quoted', async () => {
    const mvn = `echo '[INFO] Scanning'; echo '[ERROR] Could not transfer artifact: unknown host -> [Help 1]'; echo '[ERROR] Re-run Maven'; exit 1`
    const options = await withPrograms({ java: javaOf17, mvn })
    const { code, message } = await refusal(options)
    expect(code).toBe('embedded-failed')
    const log = join(options.dataDir, 'logs', 'maven-kafka.log')
    expect(message).toContain(`Could not transfer artifact: unknown host (all of it: ${log}).`)
    expect(message).toContain('set KAFKA_BROKERS')
    expect(await readFile(log, 'utf8')).toContain('Re-run Maven')
  })
})

test('a cache folder that cannot be made is named', async () => {
  const options = await withPrograms({ java: javaOf17 })
  await writeFile(join(options.env.HOME, '.cache'), '')
  const { code, message } = await refusal(options)
  expect(code).toBe('embedded-failed')
  expect(message).toContain(join(options.env.HOME, '.cache'))
})

describe('a Java program that fails at its start', () => {
  test('is quoted, and nothing keeps running', async () => {
    const mvn = 'for a; do case $a in -Dduelog.target=*) echo jar > "${a#*=}/some.jar";; esac; done'
    const java = `${javaOf17}
case "$*" in
  *StorageTool*) mkdir log.new ;;
  *kafka.Kafka*) echo 'INFO starting'; echo 'java.lang.RuntimeException: no'; echo '	at some.Place'; echo 'Caused by: java.io.IOException: No space left on device'; exit 1 ;;
  *) exec sleep 1000 ;;
esac`
    const made = await withPrograms({ java, mvn })
    const options = { ...made, jarLists: await jarList(await temporaryFolder(), { 'some.jar': 'jar\n' }) }
    const { code, message } = await refusal(options)
    expect(code).toBe('embedded-failed')
    const log = join(options.dataDir, 'logs', 'kafka.log')
    expect(message).toMatch(/^Apache Kafka [\d.]+ ended while it was starting: /)
    expect(message).toContain(`java.io.IOException: No space left on device (all of its output: ${log}).`)
    expect(existsSync(join(options.dataDir, 'kafka.pid'))).toBe(false)
    expect(existsSync(join(options.dataDir, 'registry.pid'))).toBe(false)
    // The folder is free again: the second refusal is the first one once more.
    expect((await refusal(options)).message).toBe(message)
  })
})

describe('a data folder', () => {
  const versionFile = (dataDir: string): string => join(dataDir, 'version.json')

  test.each([
    ['of another broker', { layout: 1, kafka: '3.9.0' }, 'was written by Apache Kafka 3.9.0, and this Duelog starts 4.3.0'],
    [
      'of another registry',
      { layout: 1, registry: '3.0.1' },
      'was written by Apicurio Registry 3.0.1, and this Duelog starts 2.6.13.Final',
    ],
    ['of another layout', { layout: 2 }, 'has layout 2, and this Duelog knows layout 1'],
  ])('%s is refused and left as it is', async (_, version, part) => {
    const dataDir = await temporaryFolder()
    await writeFile(versionFile(dataDir), JSON.stringify(version))
    const { code, message } = await refusal((await optionsFor(dataDir)).options)
    expect(code).toBe('foreign-data')
    expect(message).toContain(`The data folder ${dataDir} ${part}; choose another folder with DUELOG_DATA_DIR`)
    expect(JSON.parse(await readFile(versionFile(dataDir), 'utf8'))).toEqual(version)
  })

  test.each(['null', 'not JSON', '{"layout":"1"}'])('whose version file is %s is refused', async (text) => {
    const dataDir = await temporaryFolder()
    await writeFile(versionFile(dataDir), text)
    const { code, message } = await refusal((await optionsFor(dataDir)).options)
    expect(code).toBe('foreign-data')
    expect(message).toContain(`${versionFile(dataDir)} is not a version file of Duelog`)
  })

  test('with data of a broker but no version file is refused', async () => {
    const dataDir = await temporaryFolder()
    await mkdir(join(dataDir, 'kafka'))
    const { code, message } = await refusal((await optionsFor(dataDir)).options)
    expect(code).toBe('foreign-data')
    expect(message).toContain('holds data of Apache Kafka that no version.json of Duelog vouches for')
  })

  test('that cannot be made is refused', async () => {
    const folder = await temporaryFolder()
    await writeFile(join(folder, 'file'), '')
    const { code, message } = await refusal((await optionsFor(join(folder, 'file', 'data'))).options)
    expect(code).toBe('embedded-failed')
    expect(message).toMatch(/The data folder .*cannot be made .*DUELOG_DATA_DIR/)
  })

  test('on a full disk is refused with the free and the needed space', async () => {
    const dataDir = await temporaryFolder()
    await requireSpace(dataDir, 1)
    await expect(requireSpace(dataDir, 2 ** 60)).rejects.toThrow(
      /is full: \d+ MB are free and 1099511627776 MB are needed; free some/,
    )
  })
})

import { execFileSync, spawn } from 'node:child_process'
import { mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, onTestFinished, test } from 'vitest'
import { secretOfFile } from '../../src/ground/process/secret-files.ts'

const folder = mkdtempSync(join(tmpdir(), 'duelog-secret-files-'))
afterAll(() => rmSync(folder, { recursive: true, force: true }))

function pipe(name: string): string {
  const path = join(folder, name)
  execFileSync('mkfifo', [path])
  return path
}

/** Writes in a process of its own, because a read of a secret lets nothing else run. */
function written(path: string, command: string): void {
  const writer = spawn('sh', ['-c', `(${command}) > "$0"`, path], { stdio: 'ignore' })
  onTestFinished(() => void writer.kill())
}

describe('the file of a secret', () => {
  test('may be a link to a link, as Kubernetes mounts it', () => {
    writeFileSync(join(folder, 'value'), 'hidden\n')
    symlinkSync(join(folder, 'value'), join(folder, '..data'))
    symlinkSync(join(folder, '..data'), join(folder, 'password'))
    expect(secretOfFile(join(folder, 'password'))).toBe('hidden')
  })

  test('is UTF-8, also with the byte order mark of some editors; other bytes would become another secret', () => {
    writeFileSync(join(folder, 'mark'), '\ufeffgeh\u00e9im\r\n')
    expect(secretOfFile(join(folder, 'mark'))).toBe('geh\u00e9im')
    writeFileSync(join(folder, 'latin1'), Buffer.from('geh\u00e9im', 'latin1'))
    expect(() => secretOfFile(join(folder, 'latin1'))).toThrow('it is not UTF-8')
  })

  test('may be a pipe that is written later and in parts', () => {
    const path = pipe('parts')
    written(path, 'printf hid; sleep 0.2; echo den')
    expect(secretOfFile(path)).toBe('hidden')
  })

  test('may be the output of a command, as <(…) of a shell gives it', () => {
    const read = `import { secretOfFile } from '${new URL('../../src/ground/process/secret-files.ts', import.meta.url)}'
      process.stdout.write(secretOfFile(process.argv[1]))`
    const script = '"$0" --input-type=module -e "$1" <(sleep 0.2; echo hidden)'
    expect(execFileSync('bash', ['-c', script, process.execPath, read], { encoding: 'utf8' })).toBe('hidden')
  })

  test('is refused if it is a pipe that nobody writes', () => {
    expect(() => secretOfFile(pipe('silent'), { pipeMs: 100 })).toThrow(/pipe .*nobody has written to it within 0.1 s/)
  })

  test('is refused if it is a pipe that is not written to its end', () => {
    const path = pipe('open')
    written(path, 'printf hidden; sleep 30')
    expect(() => secretOfFile(path, { pipeMs: 1_000 })).toThrow(/not written to its end \(6 bytes\)/)
  })

  test('is refused if it is a pipe without an end', () => {
    const path = pipe('endless')
    written(path, 'yes')
    expect(() => secretOfFile(path)).toThrow(/more than 65536 bytes/)
  })

  test('is no pipe if it is read again later', () => {
    expect(() => secretOfFile(pipe('again'), { isReadAgain: true })).toThrow(/pipe, .*read again later; give a file/)
  })

  test('is no folder', () => {
    expect(() => secretOfFile(folder)).toThrow(/EISDIR/)
  })
})

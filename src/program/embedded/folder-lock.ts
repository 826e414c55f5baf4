/**
 * A lock on a folder: one holder on this machine, until it releases the lock or dies.
 * The lock is a listening local socket: the kernel gives a name to one process only and takes it back when that process
 * dies, which no lock file can promise. A process that finds the lock taken can ask the holder for its pid, or wait for its end.
 */
import { createHash } from 'node:crypto'
import { realpathSync, rmSync } from 'node:fs'
import { createConnection, createServer, type Server, type Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

export interface FolderLock {
  state: 'held'
  /** Safe to call twice. */
  release(): Promise<void>
}
export interface FolderTaken {
  state: 'taken'
  /** Process id of the holder, if it answered. */
  pid: number | undefined
}

/** Time limit for the holder's answer. The holder may be busy, and the answer is only for a message. */
const childAnswerMsMax = 1_000

/** Tries once to become the holder of an existing folder. */
export async function lockFolder(folder: string): Promise<FolderLock | FolderTaken> {
  const name = socketNameOf(folder)
  const lock = (await listen(name)) ?? (clearDead(name, await ask(name)) ? await listen(name) : undefined)
  return lock ?? { state: 'taken', pid: (await ask(name)).pid }
}

/** Becomes the holder of an existing folder, however long the present one keeps it. */
export async function waitForFolder(folder: string): Promise<FolderLock> {
  for (;;) {
    const lock = await lockFolder(folder)
    if (lock.state === 'held') return lock
    await ended(socketNameOf(folder))
  }
}

function socketNameOf(folder: string): string {
  const id = createHash('sha256').update(realpathSync(folder)).digest('hex').slice(0, 32)
  // Linux has socket names outside the file system, which vanish with their process; elsewhere a file remains.
  return process.platform === 'linux' ? `\0duelog-${id}` : join(tmpdir(), `duelog-${id}.sock`)
}

function listen(name: string): Promise<FolderLock | undefined> {
  const sockets = new Set<Socket>()
  const server: Server = createServer((socket) => {
    sockets.add(socket)
    socket.on('error', () => {}).on('close', () => sockets.delete(socket))
    socket.unref()
    socket.write(`${process.pid}\n`)
  })
  return new Promise((resolve, reject) => {
    server.once('error', (error: NodeJS.ErrnoException) => (error.code === 'EADDRINUSE' ? resolve(undefined) : reject(error)))
    server.listen(name, () => {
      server.unref()
      let released: Promise<void> | undefined
      const release = (): Promise<void> => {
        released ??= new Promise<void>((done) => {
          server.close(() => done())
          for (const socket of sockets) socket.destroy()
        })
        return released
      }
      resolve({ state: 'held', release })
    })
  })
}

/** Whether the holder lives, and its pid if it answers in time. */
function ask(name: string): Promise<{ alive: boolean; pid: number | undefined }> {
  return new Promise((resolve) => {
    const socket = createConnection(name)
    const answer = (alive: boolean, pid?: number): void => {
      resolve({ alive, pid })
      socket.destroy()
    }
    socket.setTimeout(childAnswerMsMax, () => answer(true))
    socket.once('data', (data) => answer(true, Number.parseInt(data.toString(), 10) || undefined))
    socket.once('error', () => answer(false))
    socket.once('close', () => answer(false))
  })
}

/** Removes the socket file that a dead holder left; true if another try may succeed. */
function clearDead(name: string, holder: { alive: boolean }): boolean {
  if (holder.alive) return false
  if (!name.startsWith('\0')) rmSync(name, { force: true })
  return true
}

function ended(name: string): Promise<void> {
  return new Promise((resolve) => {
    const socket = createConnection(name)
    socket.on('data', () => {})
    socket.once('error', () => {})
    socket.once('close', () => resolve())
  })
}

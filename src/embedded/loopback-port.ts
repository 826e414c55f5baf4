/** Refuses a port that something else listens on, before a Java process is started that would fail on it. */
import { createServer } from 'node:net'
import { DuelogError } from '../errors/index.ts'

/** Throws DuelogError `embedded-failed` naming the port, its use and the setting that moves it. */
export async function requireFreePort(port: number, use: string, setting: string): Promise<void> {
  const taken = await new Promise<NodeJS.ErrnoException | undefined>((resolve) => {
    const server = createServer()
    server.once('error', resolve)
    server.listen({ host: '127.0.0.1', port, exclusive: true }, () => server.close(() => resolve(undefined)))
  })
  if (!taken) return
  const why = taken.code === 'EADDRINUSE' ? 'is taken by another process' : `cannot be used (${taken.message})`
  throw new DuelogError(
    'embedded-failed',
    `Port ${port} of 127.0.0.1, wanted for ${use}, ${why}. Free it, or choose another with ${setting}.`,
    { cause: taken },
  )
}

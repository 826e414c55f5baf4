/**
 * The class archive of the Java VM (class data sharing): half of a broker's start is loading and verifying classes.
 * The archive is created when a broker without one ends, and is kept beside the jars. A VM of another version creates its own.
 */
import { createHash } from 'node:crypto'
import { open } from 'node:fs/promises'
import { join } from 'node:path'

/** Arguments that use the archive, or create it at the end. The VM ignores an archive that does not match. */
export async function classArchiveArguments(jars: string, javaVersion: string): Promise<string[]> {
  const id = createHash('sha256').update(javaVersion).digest('hex').slice(0, 8)
  const file = join(jars, `classes-${id}.jsa`)
  const use = (await isComplete(file)) ? 'SharedArchiveFile' : 'ArchiveClassesAtExit'
  return [`-XX:${use}=${file}`, '-Xlog:cds=off', '-Xlog:cds+dynamic=off']
}

/** The header is written last, so an incomplete archive begins with zeros. */
async function isComplete(file: string): Promise<boolean> {
  const handle = await open(file).catch(() => undefined)
  if (handle === undefined) return false
  try {
    const { bytesRead, buffer } = await handle.read(Buffer.alloc(4), 0, 4, 0)
    return bytesRead === 4 && buffer.readUInt32LE() !== 0
  } finally {
    await handle.close()
  }
}

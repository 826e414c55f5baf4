/** Reads small files that hold a secret, certificates or a key, with a limit. */
import { closeSync, openSync, readSync } from 'node:fs'

/** Far larger than any secret. The limit also ends the read of a path that is a device. */
const secretBytesMax = 65_536
/** Far larger than the list of all public certificate authorities. */
const pemBytesMax = 4 * 1024 * 1024

/** The content of a file of a secret, without the line ends at the end, which editors add. Spaces are part of a secret. */
export const secretOfFile = (file: string): string => textOf(file, secretBytesMax).replace(/[\r\n]+$/, '')

/** The content of a file with certificates or a key. Throws if it cannot be read or is far too large. */
export const pemOfFile = (file: string): string => textOf(file, pemBytesMax)

function textOf(file: string, bytesMax: number): string {
  const opened = openSync(file, 'r')
  try {
    const bytes = Buffer.alloc(bytesMax + 1)
    let length = 0
    for (let read = -1; read !== 0 && length < bytes.length; length += read)
      read = readSync(opened, bytes, length, bytes.length - length, null)
    if (length > bytesMax) throw new Error(`it has more than ${bytesMax} bytes`)
    return bytes.toString('utf8', 0, length)
  } finally {
    closeSync(opened)
  }
}

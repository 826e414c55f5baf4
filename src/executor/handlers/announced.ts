/** The names of handlers that a worker announces to its group, so that others can say which runs it can do. */

/** Most names that are announced. */
export const announcedMax = 500
/** Most bytes of all names. The broker keeps the metadata of all members of a group in one record of 1 MiB. */
export const announcedBytesMax = 16_384

/** Sorted; null beyond a limit: then it is unknown what the worker can do, as with a worker of another program. */
export function announcedHandlers(handlers: Readonly<Record<string, unknown>>): string[] | null {
  const names = Object.keys(handlers).sort()
  if (names.length > announcedMax) return null
  const bytes = names.reduce((sum, name) => sum + Buffer.byteLength(name), 0)
  return bytes > announcedBytesMax ? null : names
}

/** The built dashboard. It is read and compressed once at the start: a handful of files. */
import { createHash } from 'node:crypto'
import { readdirSync, readFileSync } from 'node:fs'
import { extname, join } from 'node:path'
import { gzipSync } from 'node:zlib'

export interface DashboardFile {
  type: string
  plain: Buffer
  gzip: Buffer
  etag: string
}

const types: Record<string, string> = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.svg': 'image/svg+xml',
}

/** Files by their path in the folder, with slashes. Empty if the dashboard is not built. */
export function readDashboard(folder: string): Map<string, DashboardFile> {
  const files = new Map<string, DashboardFile>()
  let entries: { isFile(): boolean; name: string; parentPath: string }[]
  try {
    entries = readdirSync(folder, { recursive: true, withFileTypes: true })
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return files
    throw error
  }
  for (const { name, parentPath } of entries.filter((entry) => entry.isFile())) {
    const type = types[extname(name)]
    if (type === undefined) continue
    const path = join(parentPath, name)
    const plain = readFileSync(path)
    const etag = `"${createHash('sha256').update(plain).digest('base64url').slice(0, 22)}"`
    files.set(path.slice(folder.length).replaceAll('\\', '/').replace(/^\//, ''), {
      type,
      plain,
      gzip: gzipSync(plain, { level: 9 }),
      etag,
    })
  }
  return files
}

/** What both databases offer to the code that they share: SQL with `?` for each value, which is the same for both where possible. */

export type SqlValue = string | number | bigint | Uint8Array | null
export type SqlRow = Record<string, SqlValue>

export interface Sql {
  readonly dialect: 'sqlite' | 'postgres'
  all(text: string, values: readonly SqlValue[]): Promise<SqlRow[]>
}

export interface Database extends Sql {
  /** All statements of `task` or none. */
  transaction<Result>(task: (sql: Sql) => Promise<Result>): Promise<Result>
  close(): Promise<void>
}

/** `(?, ?), (?, ?)` */
export function placesOf(rows: number, columns: number): string {
  const row = `(${Array.from({ length: columns }, () => '?').join(', ')})`
  return Array.from({ length: rows }, () => row).join(', ')
}

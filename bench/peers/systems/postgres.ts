/** Statements of the comparison itself for PostgreSQL. */
import { load } from './system.ts'

interface Pg {
  default: {
    Client: new (options: {
      connectionString: string
    }) => {
      connect(): Promise<void>
      query(sql: string): Promise<{ rows: { count: string }[] }>
      end(): Promise<void>
    }
  }
}

export async function query(connectionString: string, sql: string): Promise<{ count: string }[]> {
  const { Client } = (await load<Pg>('pg')).default
  const client = new Client({ connectionString })
  await client.connect()
  try {
    return (await client.query(sql)).rows
  } finally {
    await client.end()
  }
}

export async function countRows(connectionString: string, table: string): Promise<number> {
  const [row] = await query(connectionString, `select count(*) from ${table}`)
  return Number(row?.count)
}

/** What `import … from 'duelog'` gives: a client that schedules jobs and a worker that runs them. */
export * from './client.ts'
export * from './worker.ts'

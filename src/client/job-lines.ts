/** Jobs as lines of JSON, for a batch of the HTTP API. */
import { writeJson } from '../../streams/text/index.ts'
import type { Job } from './job.ts'

/** One line for each job. Throws for a job that JSON cannot hold, such as one with a BigInt. */
export async function* jobLines(jobs: Iterable<Job> | AsyncIterable<Job>): AsyncGenerator<string> {
  for await (const job of jobs) yield writeJson(job)
}

/** The runs of a job that are kept, with one that may be found among its older dead runs only. */
import type { JobQueries } from '../../ports/index.ts'

export async function runsWith(
  jobs: JobQueries,
  partition: number,
  jobId: string,
  runNo: number,
): ReturnType<JobQueries['runs']> {
  const runs = await jobs.runs(partition, jobId)
  const isThere = [...(runs?.active ?? []), ...(runs?.finished ?? [])].some((run) => run.runNo === runNo)
  return runs === undefined || isThere ? runs : jobs.runs(partition, jobId, runNo)
}

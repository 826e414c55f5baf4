/** The id of a run, as people type it. */
import { DuelogError } from '../../errors/index.ts'
import { path } from '../remote/index.ts'

/** API path of a run ID as typed by the user. Throws `bad-usage` for an invalid one. A job ID may contain slashes. */
export function routeOf(name: string): string {
  const [, jobId, runNo] = /^(.+)\/(\d{1,16})$/s.exec(name) ?? []
  if (jobId === undefined || runNo === undefined) {
    throw new DuelogError(
      'bad-usage',
      `${JSON.stringify(name)} is not a run ID. A run ID is the job ID, a slash and a number, such as report-7/12.`,
    )
  }
  return path`/v1/runs/${jobId}/${runNo}`
}

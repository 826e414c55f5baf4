/** The id of a run, as people type it. */
import { DuelogError } from '../../errors/index.ts'
import { path } from '../remote/index.ts'

/** Throws `bad-usage` for what is no id of a run. A job id may have slashes itself. */
export function routeOf(name: string): string {
  const [, jobId, runNo] = /^(.+)\/(\d{1,16})$/s.exec(name) ?? []
  if (jobId === undefined || runNo === undefined) {
    throw new DuelogError(
      'bad-usage',
      `${JSON.stringify(name)} is no id of a run; it is that of its job, a slash and a number, such as report-7/12.`,
    )
  }
  return path`/v1/runs/${jobId}/${runNo}`
}

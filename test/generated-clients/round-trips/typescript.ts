/** What generated-clients.test.ts has the TypeScript client do. It is compiled beside that client, so the project itself leaves it out. */
import { Configuration, JobsApi, ProblemFromJSON, ResponseError, RunsApi, SchedulesApi, SystemApi } from './client/index'

const [basePath = '', accessToken = '', id = ''] = process.argv.slice(2)
const configuration = new Configuration({ basePath, accessToken })
const jobs = new JobsApi(configuration)
const runs = new RunsApi(configuration)
const system = new SystemApi(configuration)

async function problemOf(call: Promise<unknown>): Promise<string> {
  try {
    await call
    return 'no problem'
  } catch (error) {
    if (!(error instanceof ResponseError)) throw error
    const problem = ProblemFromJSON(await error.response.json())
    return `${problem.status} ${problem.code} ${problem.retriable}`
  }
}

async function main(): Promise<void> {
  const at = 4_102_444_800_000
  const jobDefinition = {
    schedule: { at },
    startAt: '2030-01-31T08:00:00+01:00',
    target: { handler: 'echo' },
    headers: { plain: 'text', bytes: { base64: 'AP8=' } },
    payload: { n: 1 },
    tags: [id.split('/')[0] ?? ''],
    priority: 7,
    retry: { backoff: { fixed: { delayMs: 1_500 } } },
  }
  const made = await jobs.putJob({ id, jobDefinition, wait: 'applied' })
  const job = await jobs.getJob({ id })
  const listed = await jobs.listJobs({ tag: id.split('/')[0], limit: 10 })
  await jobs.putJob({ id: `${id}/word`, jobDefinition: { ...jobDefinition, priority: 'LOW' }, wait: 'applied' })
  const second = await jobs.getJob({ id: `${id}/word` })
  const { runId } = await jobs.triggerJob({ id, idempotencyKey: 'once', triggerRequest: { payload: { n: 2 } } })
  let run = await runs.getRun({ jobId: id, runNo: 1 })
  while (run.finishedAt === undefined || run.finishedAt === null) {
    await new Promise((resolve) => setTimeout(resolve, 50))
    run = await runs.getRun({ jobId: id, runNo: 1 })
  }
  const preview = await new SchedulesApi(configuration).previewSchedule({
    previewRequest: { schedule: { everyMs: 86_400_000, anchor: at }, from: at, count: 1 },
  })
  const plan = await jobs.planJobs({ planRequest: { jobs: [{ id, ...jobDefinition }] } })
  const lines = await jobs.writeJobs({ body: new Blob([`${JSON.stringify({ id: `${id}/line`, ...jobDefinition })}\n`]) })
  const { partitions } = await system.listPartitions()
  const { workers } = await system.listWorkers()
  const explanation = await jobs.explainJob({ id })
  const facts = {
    applied: made.applied,
    status: job.status,
    at: job.definition?.schedule.at,
    startAt: job.definition?.startAt,
    headers: job.definition?.headers,
    payload: job.definition?.payload,
    backoffMs: job.definition?.retry?.backoff?.fixed?.delayMs,
    priorities: [job.definition?.priority, second.definition?.priority],
    lastRun: job.lastRun,
    listed: listed.jobs.map((one) => one.id).join(),
    runId,
    run: run.status,
    result: run.result,
    preview: preview.fires[0]?.atMs,
    plan: plan.jobs[0]?.action,
    line: JSON.parse(await lines.text()).ok,
    partitions: partitions.map(({ phase }) => phase).join(),
    workers: workers.length,
    explained: explanation.status,
    missing: await problemOf(jobs.getJob({ id: 'nowhere' })),
    refused: await problemOf(jobs.putJob({ id, jobDefinition: { schedule: {}, target: { handler: 'echo' } } })),
    stranger: await problemOf(new JobsApi(new Configuration({ basePath })).getJob({ id })),
  }
  console.log(JSON.stringify(facts))
}

void main()

/**
 * Handlers by name, for `npm start -- --handlers examples/handlers.ts`. Then, for example:
 *
 *   curl -X PUT http://127.0.0.1:8080/v1/jobs/report-7 -H 'content-type: application/json' \
 *        -d '{"schedule": {"cron": "* * * * *"}, "target": {"handler": "send-report"}, "payload": {"to": "a@example.org"}}'
 */
import { setTimeout as wait } from 'node:timers/promises'
import type { Handlers } from '../src/clients/library/index.ts'

const handlers: Handlers = {
  /** Reports its progress, ends early when its signal is aborted, and returns the result of the run. */
  async 'send-report'(run) {
    const { to } = run.payload as { to: string }
    for (const page of [1, 2, 3]) {
      await wait(200, undefined, { signal: run.signal })
      run.heartbeat({ progress: page / 3, message: `page ${page} of 3` })
    }
    return { sentTo: to, reportOf: new Date(run.scheduledFor).toISOString() }
  },

  /** Fails two times out of three. The backoff of the job decides when it is tried again. */
  'flaky-check'(run) {
    if (run.attempt % 3 !== 0) throw new Error(`not yet, at attempt ${run.attempt}`)
  },
}

export default handlers

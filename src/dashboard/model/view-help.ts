/** What each view shows, in some sentences, and the page of the documentation that says more. */
import type { ViewName } from './routes.ts'

export interface ViewHelp {
  text: string
  /** File of the documentation. */
  page: string
  /** Section of the page /docs of this server with the requests of the view. */
  api: 'Jobs' | 'Runs' | 'Dead letters' | 'Operations' | 'Schedules' | 'System'
}

const job: ViewHelp = {
  text: 'Why says what the job waits for now, and which occurrences were skipped and why. Trends show the last ended runs. The strip shows when the kept runs waited (amber) and ran.',
  page: 'docs/TROUBLESHOOTING.md',
  api: 'Jobs',
}

export const viewHelp: Partial<Record<ViewName, ViewHelp>> = {
  now: {
    text: 'Red lines need somebody at once. Amber lines wait for a decision, and nothing is late because of them. Start lateness is the time from when an attempt could start to its start; waiting for a limit is not lateness. Dashed lines in the charts are starts of processes, takeovers and deploys.',
    page: 'docs/OPERATIONS.md',
    api: 'System',
  },
  jobs: {
    text: 'All jobs by ID. Filters are in the address, so a search can be saved, shared and bookmarked. Changes of many jobs run at the server, with progress.',
    page: 'docs/JOBS.md',
    api: 'Jobs',
  },
  job,
  run: {
    text: 'An attempt is one try of a run. It is dispatched to a worker, started by it, and ended by its report. Late by counts from when the attempt was due, or from when its limit allowed it.',
    page: 'docs/CONCEPTS.md',
    api: 'Runs',
  },
  runs: {
    text: 'Runs that have not ended: running first, then dispatched, waiting and those before a retry. The order stays while the pointer or the keyboard is in the list. Ended runs are in the history.',
    page: 'docs/CONCEPTS.md',
    api: 'Runs',
  },
  history: {
    text: 'Ended runs, 90 days by default, from the database of the role history. The server searches by time; another order is that of the loaded page.',
    page: 'docs/OPERATIONS.md',
    api: 'Runs',
  },
  handlers: {
    text: 'The runs of each handler that ended in the range, from the history. Failed are those that are dead or expired. Half of the runs are above p50, 5% above p95; both are exact to 25%.',
    page: 'docs/OPERATIONS.md',
    api: 'Runs',
  },
  'dead-letters': {
    text: 'A run becomes a dead letter when its last attempt fails. Redrive makes a new run with the same payload. Discard removes it from the list, and its record stays in the topic.',
    page: 'docs/OPERATIONS.md',
    api: 'Dead letters',
  },
  pools: {
    text: 'A pool is a group of workers. A paused pool starts nothing; a drained one does what was dispatched. A limit is a concurrencyKey: its slots are counted in each partition by itself. Now says that it is overloaded if more runs wait for it than it has slots.',
    page: 'docs/how-to/limits.md',
    api: 'System',
  },
  workers: {
    text: 'Processes that run handlers. Runs go only to workers that have their handler; open the pools of a worker to see its handlers.',
    page: 'docs/how-to/workers.md',
    api: 'System',
  },
  calendar: {
    text: 'How many occurrences will be due. A cell opens the list of its jobs; the arrow keys move between cells. Colors go from the quiet to the busiest of what is shown, by powers.',
    page: 'docs/SIZING.md',
    api: 'Schedules',
  },
  proof: {
    text: 'Auditors read the log from outside, and judge for each occurrence whether it ran exactly once, or was skipped as its job says.',
    page: 'docs/RELIABILITY.md',
    api: 'System',
  },
  audit: { text: 'Who asked for which change, when, and what came of it.', page: 'docs/OPERATIONS.md', api: 'System' },
  settings: {
    text: 'What the process that serves this page was started with. Secrets are never shown.',
    page: 'docs/CONFIGURATION.md',
    api: 'System',
  },
}

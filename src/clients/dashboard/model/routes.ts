/** Addresses of the views, each of which works when opened directly or reloaded; and what each view shows, with the page of the documentation that says more. */
import { computed, signal } from '@preact/signals'
import { mayOperate } from './request.ts'

/** Pages in the order of the navigation. */
export const pages = [
  { view: 'now', href: '/', title: 'Now' },
  { view: 'jobs', href: '/jobs', title: 'Jobs' },
  { view: 'runs', href: '/runs', title: 'Runs' },
  { view: 'history', href: '/history', title: 'History' },
  { view: 'handlers', href: '/handlers', title: 'Handlers' },
  { view: 'dead-letters', href: '/dead-letters', title: 'Dead letters' },
  { view: 'pools', href: '/pools', title: 'Pools and limits' },
  { view: 'workers', href: '/workers', title: 'Workers' },
  { view: 'calendar', href: '/calendar', title: 'Calendar' },
  { view: 'proof', href: '/proof', title: 'Proof' },
  { view: 'audit', href: '/audit', title: 'Audit' },
  { view: 'settings', href: '/settings', title: 'Settings' },
] as const
export type ViewName = (typeof pages)[number]['view'] | 'job' | 'run' | 'not-found'

interface Route {
  view: ViewName
  /** Job of the view. */
  jobId?: string
  /** Run of the view. */
  runNo?: number
  query: URLSearchParams
}

/** The audit trail is not for viewers. */
export const shownPages = computed(() => pages.filter(({ view }) => view !== 'audit' || mayOperate.value))

const here = signal(location.pathname + location.search)
export const route = computed(() => routeOf(here.value))

function routeOf(address: string): Route {
  const { pathname: asked, searchParams: query } = new URL(address, 'http://page')
  const pathname = asked.length > 1 ? asked.replace(/\/$/, '') : asked
  const page = pages.find(({ href }) => href === pathname)
  if (page !== undefined) return { view: page.view, query }
  const [, jobOfRun, runNo] = /^\/jobs\/([^/]+)\/runs\/([1-9]\d{0,14})$/.exec(pathname) ?? []
  const jobId = jobOfRun ?? /^\/jobs\/(.+)$/.exec(pathname)?.[1]
  if (jobId === undefined) return { view: 'not-found', query }
  try {
    const id = decodeURIComponent(jobId)
    return runNo === undefined ? { view: 'job', jobId: id, query } : { view: 'run', jobId: id, runNo: Number(runNo), query }
  } catch {
    return { view: 'not-found', query }
  }
}

/** The address with other values in its query; undefined takes one out. */
export function hrefWith(href: string, query: URLSearchParams, changes: Readonly<Record<string, string | undefined>>): string {
  const other = new URLSearchParams(query)
  for (const [name, value] of Object.entries(changes))
    if (value === undefined) other.delete(name)
    else other.set(name, value)
  return other.size === 0 ? href : `${href}?${other}`
}

export const jobHref = (id: string): string => `/jobs/${encodeURIComponent(id)}`

export const runHref = (jobId: string, runNo: number): string => `${jobHref(jobId)}/runs/${runNo}`

/** How far an entry of the history was scrolled, in its state. */
const scrollKey = 'duelog.y'
history.scrollRestoration = 'manual'
let scrolled: ReturnType<typeof setTimeout> | undefined
addEventListener('scroll', () => {
  clearTimeout(scrolled)
  scrolled = setTimeout(keepScroll, scrollKeptMs)
})
const scrollKeptMs = 100

function keepScroll(): void {
  clearTimeout(scrolled)
  history.replaceState({ ...history.state, [scrollKey]: scrollY }, '')
}

/** The view has to load first, so its page may not be long enough yet. */
function restoreScroll(): void {
  const wanted = Number(history.state?.[scrollKey] ?? 0)
  const entry = here.value
  const until = performance.now() + restoreMsMax
  const look = (): void => {
    if (here.value !== entry) return
    scrollTo(0, wanted)
    if (Math.abs(scrollY - wanted) > 1 && performance.now() < until) requestAnimationFrame(look)
  }
  requestAnimationFrame(look)
}
const restoreMsMax = 3_000

/** Navigates to another view; `replace` adds no entry to the browser's history. */
export function go(href: string, { replace = false } = {}): void {
  keepScroll()
  if (replace) history.replaceState(null, '', href)
  else history.pushState(null, '', href)
  const changed = new URL(here.value, location.origin).pathname !== location.pathname
  here.value = location.pathname + location.search
  if (changed) scrollTo(0, 0)
}

addEventListener('popstate', () => {
  clearTimeout(scrolled)
  here.value = location.pathname + location.search
  restoreScroll()
})

/** Goes to an element of the view once it is there: the focus too, so that the keyboard continues from it. A view that comes only now has it a frame later. */
function showPlace(id: string, { isShown }: { isShown: boolean }): void {
  const entry = here.value
  const until = performance.now() + restoreMsMax
  const look = (): void => {
    const place = document.getElementById(id)
    if (place !== null) {
      place.scrollIntoView()
      place.focus({ preventScroll: true })
    } else if (here.value === entry && performance.now() < until) requestAnimationFrame(look)
  }
  if (isShown) look()
  else requestAnimationFrame(look)
}
if (location.hash.length > 1) showPlace(location.hash.slice(1), { isShown: false })

/** Links within the page change the view without a reload. The browser handles all other links, and clicks that open a new tab. */
export function followLink(event: MouseEvent): void {
  const link = event.target instanceof Element ? event.target.closest('a[href]') : null
  if (!(link instanceof HTMLAnchorElement) || link.origin !== location.origin || link.target !== '') return
  if (event.defaultPrevented || event.button !== 0 || event.metaKey || event.ctrlKey || event.shiftKey || event.altKey) return
  if (routeOf(link.pathname).view === 'not-found') return
  event.preventDefault()
  const address = link.pathname + link.search
  const isShown = address === here.value
  go(address + link.hash, { replace: isShown })
  if (link.hash.length > 1) showPlace(link.hash.slice(1), { isShown })
}

interface ViewHelp {
  text: string
  /** File of the documentation. */
  page: string
  /** Section of the page /docs of this server with the requests of the view. */
  api: 'Jobs' | 'Runs' | 'Dead letters' | 'Operations' | 'Schedules' | 'System'
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
  job: {
    text: 'Why says what the job waits for now, and which occurrences were skipped and why. Trends show the last ended runs. The strip shows when the kept runs waited (amber) and ran.',
    page: 'docs/TROUBLESHOOTING.md',
    api: 'Jobs',
  },
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

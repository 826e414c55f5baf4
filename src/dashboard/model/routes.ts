/** Addresses of the views. Each works when opened directly or reloaded. */
import { computed, signal } from '@preact/signals'
import { mayOperate } from './session.ts'

export type ViewName =
  | 'now'
  | 'jobs'
  | 'job'
  | 'run'
  | 'runs'
  | 'history'
  | 'handlers'
  | 'dead-letters'
  | 'pools'
  | 'workers'
  | 'calendar'
  | 'proof'
  | 'audit'
  | 'settings'
  | 'not-found'
export interface Route {
  view: ViewName
  /** Job of the view. */
  jobId?: string
  /** Run of the view. */
  runNo?: number
  query: URLSearchParams
}

/** Pages in the order of the navigation. */
export const pages: readonly { view: ViewName; href: string; title: string }[] = [
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
]

/** The audit trail is not for viewers. */
export const shownPages = computed(() => pages.filter(({ view }) => view !== 'audit' || mayOperate.value))

const here = signal(location.pathname + location.search)
export const route = computed(() => routeOf(here.value))

export function routeOf(address: string): Route {
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

/** The application: session, routing, and the frame around all views. */
import { signal, useSignal, useSignalEffect } from '@preact/signals'
import type { ComponentType } from 'preact'
import { useEffect, useRef } from 'preact/hooks'
import {
  api,
  apiWith,
  askOtherTabs,
  followLink,
  listen,
  mayOperate,
  pages,
  problemFrom,
  RequestProblem,
  route,
  session,
  signIn,
  token,
  type ViewName,
  visible,
  wasRefused,
} from './model/index.ts'
import { ConfirmDialog, Empty, Frame, Heading, JobDialogs, NoticeBar, Palette } from './parts/index.ts'
import {
  AuditView,
  CalendarView,
  DeadLettersView,
  HandlersView,
  HistoryView,
  JobNewView,
  JobsView,
  JobView,
  NowView,
  PoolsView,
  ProofView,
  RunsView,
  RunView,
  SettingsView,
  WorkersView,
} from './views/index.ts'

const sessionRetryMs = 2_000
/** Whether the last request for the session was not answered. */
const isAway = signal(false)

export function App() {
  useSignalEffect(() => {
    void token.value
    const ended = new AbortController()
    void loadSession(ended.signal)
    return () => ended.abort()
  })
  if (session.value === undefined)
    return isAway.value ? (
      <p class="boot bad" role="alert">
        Duelog is not responding. This page retries automatically.
      </p>
    ) : (
      <p class="boot" role="status">
        Loading …
      </p>
    )
  if (session.value === null) return <SignInView />
  return <SignedIn />
}

/** Retries until the API answers. A refused token is forgotten (model/request.ts), and the page asks for another. */
async function loadSession(until: AbortSignal): Promise<void> {
  while (!until.aborted) {
    try {
      session.value = await api.getSession({ signal: until })
      isAway.value = false
      return
    } catch (error) {
      if (until.aborted) return
      if (error instanceof RequestProblem && error.status === 401) {
        await otherTab(until)
        return
      }
      isAway.value = true
    }
    await new Promise((resolve) => setTimeout(resolve, sessionRetryMs))
  }
}

/** Another tab may have a token. Then it comes into `token`, and the session is loaded with it. */
async function otherTab(until: AbortSignal): Promise<void> {
  await askOtherTabs()
  if (!until.aborted && token.value === null) session.value = null
}

function SignedIn() {
  useEffect(() => {
    const ended = new AbortController()
    void listen(ended.signal)
    document.addEventListener('click', followLink)
    return () => {
      ended.abort()
      document.removeEventListener('click', followLink)
    }
  }, [])
  return (
    <>
      <Frame>
        <View />
      </Frame>
      <NoticeBar />
      <JobDialogs />
      <ConfirmDialog />
      <Palette />
    </>
  )
}

function View() {
  const { view, jobId = '', runNo, query } = route.value
  const location = `${view}/${jobId}/${runNo ?? ''}${query.has('new') ? '?new' : ''}`
  const before = useRef(location)
  // A new view takes the focus to its heading, so that screen readers announce it.
  useEffect(() => {
    if (before.current === location) return
    before.current = location
    document.querySelector<HTMLElement>('main h1')?.focus()
  }, [location])
  useEffect(() => {
    const name = runNo === undefined ? jobId : `${jobId}/${runNo}`
    document.title = `${visible(name) || (pages.find((page) => page.view === view)?.title ?? 'Page not found')} · Duelog`
  }, [location])
  if (view === 'job') return <JobView key={jobId} id={jobId} editing={query.has('edit')} />
  if (view === 'run') return <RunView key={`${jobId}/${runNo}`} jobId={jobId} runNo={runNo ?? 0} />
  if (view === 'jobs' && query.has('new') && mayOperate.value) return <JobNewView />
  const Page = views[view]
  return <Page query={query} />
}

const views = {
  now: NowView,
  jobs: JobsView,
  runs: RunsView,
  history: HistoryView,
  handlers: HandlersView,
  'dead-letters': DeadLettersView,
  pools: PoolsView,
  workers: WorkersView,
  calendar: CalendarView,
  proof: ProofView,
  audit: AuditView,
  settings: SettingsView,
  'not-found': NotFoundView,
} as const satisfies Record<Exclude<ViewName, 'job' | 'run'>, ComponentType<{ query: URLSearchParams }>>

function NotFoundView() {
  return (
    <>
      <Heading title="Page not found" />
      <Empty>
        There is no page at this address. <a href="/">Go to Now</a>, or <a href="/jobs">search for a job</a>.
      </Empty>
    </>
  )
}

function SignInView() {
  const problem = useSignal(
    wasRefused.value ? 'Your session has ended: the token is not valid any more. Sign in again to continue here.' : '',
  )
  const busy = useSignal(false)
  const field = useRef<HTMLInputElement>(null)
  useEffect(() => field.current?.focus(), [])
  const submit = async (event: SubmitEvent): Promise<void> => {
    event.preventDefault()
    const given = String(new FormData(event.currentTarget as HTMLFormElement).get('token')).trim()
    busy.value = true
    try {
      signIn(given, await apiWith(() => given).getSession())
    } catch (error) {
      const { status, message } = problemFrom(error)
      const words: Record<number, string> = { 0: 'Duelog is not responding. Try again shortly.', 401: 'This token is not valid.' }
      problem.value = words[status] ?? message
    } finally {
      busy.value = false
    }
  }
  return (
    <main class="sign-in">
      <h1>Duelog</h1>
      <p>
        Sign in with a token: one of DUELOG_API_TOKENS, or one from your identity provider. It is kept until you close the last
        tab of Duelog.
      </p>
      <form onSubmit={submit}>
        <label>
          Token
          <input
            ref={field}
            name="token"
            type="password"
            required
            autocomplete="off"
            spellcheck={false}
            aria-describedby="refused"
          />
        </label>
        <p id="refused" class="bad" role="alert">
          {problem.value}
        </p>
        <button type="submit" class="main" disabled={busy.value}>
          Sign in
        </button>
      </form>
    </main>
  )
}

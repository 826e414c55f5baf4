/** The application: session, routing, and the frame around all views. */
import { signal, useSignalEffect } from '@preact/signals'
import { useEffect, useRef } from 'preact/hooks'
import {
  ask,
  askOtherTabs,
  followLink,
  listen,
  mayOperate,
  pages,
  RequestProblem,
  route,
  type Session,
  session,
  token,
  visible,
} from './model/index.ts'
import { ConfirmDialog, Frame, JobDialogs, NoticeBar, Palette } from './parts/index.ts'
import {
  AuditView,
  CalendarView,
  DeadLettersView,
  HandlersView,
  HistoryView,
  JobNewView,
  JobsView,
  JobView,
  NotFoundView,
  NowView,
  PoolsView,
  ProofView,
  RunsView,
  RunView,
  SettingsView,
  SignInView,
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
      session.value = await ask<Session>('/v1/session', { signal: until })
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
  switch (view) {
    case 'now':
      return <NowView query={query} />
    case 'jobs':
      return query.has('new') && mayOperate.value ? <JobNewView /> : <JobsView query={query} />
    case 'job':
      return <JobView key={jobId} id={jobId} editing={query.has('edit')} />
    case 'run':
      return <RunView key={`${jobId}/${runNo}`} jobId={jobId} runNo={runNo ?? 0} />
    case 'runs':
      return <RunsView query={query} />
    case 'history':
      return <HistoryView query={query} />
    case 'handlers':
      return <HandlersView query={query} />
    case 'dead-letters':
      return <DeadLettersView query={query} />
    case 'pools':
      return <PoolsView />
    case 'workers':
      return <WorkersView />
    case 'calendar':
      return <CalendarView query={query} />
    case 'proof':
      return <ProofView />
    case 'audit':
      return <AuditView query={query} />
    case 'settings':
      return <SettingsView />
    case 'not-found':
      return <NotFoundView />
  }
}

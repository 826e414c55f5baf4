/** Frame of all views: navigation, and below it the connection, the theme and the session. */
import type { ComponentChildren } from 'preact'
import {
  chooseTheme,
  connection,
  duration,
  latest,
  leave,
  route,
  type Session,
  session,
  shownPages,
  staleMs,
  stoppedOf,
  type Theme,
  theme,
  visible,
} from '../model/index.ts'
import { apiHref, showHelp } from './palette.tsx'
import { Finding } from './states.tsx'

export function Frame({ children }: { children: ComponentChildren }) {
  const { view } = route.value
  return (
    <div class="frame">
      <a class="skip" href="#content">
        Skip to content
      </a>
      <header class="side">
        <div class="side-top">
          <a class="brand" href="/">
            <Mark />
            Duelog
          </a>
          <nav aria-label="Views">
            <ul>
              {shownPages.value.map((page) => (
                <li key={page.view}>
                  <a
                    href={page.href}
                    aria-current={
                      view === page.view || ((view === 'job' || view === 'run') && page.view === 'jobs') ? 'page' : undefined
                    }
                  >
                    {page.title}
                  </a>
                </li>
              ))}
            </ul>
          </nav>
          <Connection />
        </div>
      </header>
      <main id="content" tabIndex={-1}>
        {view !== 'now' && <Stopped />}
        {children}
      </main>
      <footer class="foot">
        <ThemeChoice />
        <p class="foot-links">
          <button type="button" class="link" aria-haspopup="dialog" onClick={showHelp}>
            Help
          </button>
          <a href={apiHref(view)} target="_blank" rel="noreferrer">
            API
          </a>
        </p>
        <Role />
      </footer>
    </div>
  )
}

/** Shown on every view, because data that is missing there may wait for an owner whose clock is wrong. */
function Stopped() {
  const stats = latest.value
  const stopped = stats === undefined ? [] : stoppedOf(stats)
  if (stopped.length === 0) return null
  return (
    <ul class="troubles" role="status" aria-label="Problems">
      {stopped.map(({ text, href }) => (
        <Finding key={text} tone="bad">
          {text} <a href={href}>View</a>
        </Finding>
      ))}
    </ul>
  )
}

function Mark() {
  return (
    <svg viewBox="0 0 32 32" width="22" height="22" aria-hidden="true">
      <rect width="32" height="32" rx="7" class="mark-ground" />
      <path d="M16 6.5v9.5l6.2 3.6" class="mark-hand" />
      <path d="M25.2 12.2A10 10 0 1 1 19.8 6.8" class="mark-dial" />
    </svg>
  )
}

/** State of the connection, with the age of the data when it is stale. */
function Connection() {
  const stale = staleMs.value
  const state = stale !== undefined ? 'stale' : connection.value
  const lost = latest.value === undefined ? 'Not connected' : 'Reconnecting …'
  const text = { stale: 'Disconnected', live: 'Live', connecting: 'Connecting …', lost }[state]
  return (
    <p class={`connection ${state}`}>
      <span class="dot" aria-hidden="true" />
      <span role="status">{text}</span>
      {stale !== undefined && <span aria-hidden="true">data is {duration(Math.floor(stale / 1_000) * 1_000)} old</span>}
    </p>
  )
}

const themes = { system: 'System', light: 'Light', dark: 'Dark' } as const

function ThemeChoice() {
  return (
    <fieldset class="segments">
      <legend class="unseen">Theme</legend>
      {(Object.keys(themes) as Theme[]).map((value) => (
        <label key={value}>
          <input type="radio" name="theme" value={value} checked={theme.value === value} onChange={() => chooseTheme(value)} />
          <span>{themes[value]}</span>
        </label>
      ))}
    </fieldset>
  )
}

/** The name says nothing more if it is that of the role. */
const who = ({ name, role }: Session): string => (name === null || name === role ? role : `${visible(name)} (${role})`)

function Role() {
  if (session.value?.authentication !== true) return null
  return (
    <p class="role">
      Signed in as {who(session.value)}
      <button type="button" class="quiet" onClick={() => void leave()}>
        Sign out
      </button>
    </p>
  )
}
